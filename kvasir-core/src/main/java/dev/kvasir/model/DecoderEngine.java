package dev.kvasir.model;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Engine;
import dev.kvasir.error.InvalidInputException;

/** An engine of one decoder, with what a model tells of it: the same wherever its weights lie. */
public interface DecoderEngine extends Engine {
  ModelConfig config();

  /** A short name for its weights and shape, which profiles are made out to. */
  String fingerprint();

  /** What it computes on, for people. */
  String device();

  /** What a cache of its sequences may know, but for profile and limit. */
  CacheContext cacheContext();

  /** Bytes of all weights as they are used. */
  long weightBytes();

  /** Whether sequences can be stored and go on from there. */
  default boolean storesSequences() {
    return true;
  }

  /**
   * Bytes that a sequence never exceeds on its way to so many tokens; where sizes depend on the
   * vectors, what is usual.
   *
   * @param host with the profile and the limit of the sequence
   * @param stepTokens tokens of a step at the most
   */
  long maxBytes(CacheSpec spec, CacheContext context, int tokens, int stepTokens);

  /** Bytes that all sequences with a kind of cache share, beside their own. */
  long sharedBytes(CacheSpec spec, CacheContext context);

  /**
   * For what computes with weights itself; they live as long as this engine.
   *
   * @throws InvalidInputException where the host cannot reach them
   */
  default Weights weights() {
    throw new InvalidInputException(
        "%s: its weights lie on %s; this computes with weights in the memory of the host"
            .formatted(config().name(), device()));
  }

  /**
   * Runs one step: appends every row to its cache, leaves the wanted logits in the batch and packs
   * what has left the window.
   *
   * @throws RuntimeException where a sequence of the batch failed; the others have gone on
   */
  default void forward(Batch batch) {
    step(batch);
    batch.quantizeWindow();
    batch.requireNoFailure();
  }
}
