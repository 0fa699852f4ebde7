package dev.kvasir.runtime;

import dev.kvasir.LoadOptions.Speculation;
import dev.kvasir.engine.Drafter;
import dev.kvasir.engine.NgramDrafter;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.text.Tokenizer;
import java.nio.file.Path;

/** What proposes tokens for the sessions of a model. */
public sealed interface Drafting extends AutoCloseable
    permits Drafting.None, Drafting.FromText, DraftModel {
  /**
   * Returns what proposes tokens for a session, closed with it; null for nothing.
   *
   * @param contextLimit maximum tokens of its text
   */
  Drafter newDrafter(int contextLimit);

  /**
   * Returns the most bytes that drafting for a session takes of the memory of all KV caches.
   *
   * @param contextLimit maximum tokens of its text
   * @param tokens of its text
   */
  default long maxBytes(int contextLimit, int tokens) {
    return 0;
  }

  @Override
  default void close() {}

  /** Proposes nothing. */
  record None() implements Drafting {
    @Override
    public Drafter newDrafter(int contextLimit) {
      return null;
    }
  }

  /** Proposes from the text of each session. */
  record FromText() implements Drafting {
    @Override
    public Drafter newDrafter(int contextLimit) {
      return new NgramDrafter();
    }
  }

  /**
   * Returns what the options ask for.
   *
   * @throws InvalidInputException if the device cannot verify tokens, or a draft model does not fit
   */
  static Drafting of(
      EngineOptions options, String name, DecoderEngine engine, Tokenizer tokenizer) {
    Speculation speculation = options.speculation();
    return switch (speculation.kind()) {
      case OFF -> new None();
      case AUTO -> engine.verifiesDrafts() ? new FromText() : new None();
      case NGRAM -> {
        requireVerification(name, engine);
        yield new FromText();
      }
      case MODEL -> {
        requireVerification(name, engine);
        Path file = speculation.draftModel().orElseThrow();
        yield DraftModel.load(file, options, name, engine, tokenizer);
      }
    };
  }

  private static void requireVerification(String name, DecoderEngine engine) {
    if (!engine.verifiesDrafts()) {
      throw new InvalidInputException(
          "%s: cannot verify several tokens in a step on %s; expected no speculation, or auto"
              .formatted(name, engine.device()));
    }
  }
}
