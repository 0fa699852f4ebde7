package dev.kvasir.runtime;

import dev.kvasir.LoadOptions.Speculation;
import dev.kvasir.SessionOptions;
import dev.kvasir.engine.Drafter;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.text.Tokenizer;
import java.nio.file.Path;

/** A small model that proposes tokens for the sessions of a larger one with the same vocabulary. */
public final class DraftModel implements Drafting {
  private final LoadedModel model;
  private final int vocabulary; // of the larger model

  private DraftModel(LoadedModel model, int vocabulary) {
    this.model = model;
    this.vocabulary = vocabulary;
  }

  /**
   * Loads a draft model, whose KV caches are in the memory of the larger model's.
   *
   * @param name of the larger model
   * @param engine of the larger model
   * @throws InvalidInputException if the file cannot be loaded or its vocabulary differs
   */
  public static DraftModel load(
      Path file, EngineOptions options, String name, DecoderEngine engine, Tokenizer tokenizer) {
    EngineOptions own =
        EngineOptions.defaults()
            .withThreads(options.threads())
            .withKernels(options.kernels())
            .withSpeculation(Speculation.off());
    LoadedModel draft = LoadedModel.load(file, own, engine.memory());
    try {
      requireSameVocabulary(draft, name, tokenizer);
      return new DraftModel(draft, engine.config().vocabulary());
    } catch (RuntimeException | Error e) {
      draft.close();
      throw e;
    }
  }

  private static void requireSameVocabulary(LoadedModel draft, String name, Tokenizer tokenizer) {
    Tokenizer own = draft.tokenizer();
    int count = tokenizer.vocabularySize();
    if (own.vocabularySize() != count) {
      throw new InvalidInputException(
          "%s: has a vocabulary of %d tokens; as a draft model of %s expected the same %d"
              .formatted(draft.name(), own.vocabularySize(), name, count));
    }
    for (int id = 0; id < count; id++) {
      if (!own.tokenText(id).equals(tokenizer.tokenText(id))) {
        throw new InvalidInputException(
            "%s: has '%s' as token %d; as a draft model of %s expected the same '%s'"
                .formatted(draft.name(), own.tokenText(id), id, name, tokenizer.tokenText(id)));
      }
    }
  }

  @Override
  public Drafter newDrafter(int contextLimit) {
    return new ModelDrafter(model, limit(contextLimit), vocabulary);
  }

  private int limit(int contextLimit) {
    return Math.min(contextLimit, model.contextLength());
  }

  @Override
  public long maxBytes(int contextLimit, int tokens) {
    int limit = limit(contextLimit);
    SessionOptions options = SessionOptions.builder().contextLimit(limit).build();
    // A draft extends the text, but never beyond the tokens of the request.
    return model.maxCacheBytes(options, Math.min(limit, tokens));
  }

  @Override
  public void close() {
    model.close();
  }
}
