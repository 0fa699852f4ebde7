package dev.kvasir.model;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.engine.Batch;
import dev.kvasir.engine.Engine;
import dev.kvasir.error.InvalidInputException;
import java.util.Optional;

/** An engine for one decoder, on any device. */
public interface DecoderEngine extends Engine {
  ModelConfig config();

  /** Returns a short identifier of weights and shape, to which profiles are bound. */
  String fingerprint();

  /** Returns the name of the device, for display. */
  String device();

  /** Returns the outliers in its keys, if it has been given any. */
  default Optional<KeyOutliers> outliers() {
    return Optional.empty();
  }

  /** Returns the context of the engine's caches, without profile and context limit. */
  CacheContext cacheContext();

  /** Returns the bytes of all loaded weights. */
  long weightBytes();

  /** Returns false if its weights cannot be read any more, so that all further steps fail. */
  default boolean isIntact() {
    return true;
  }

  /**
   * Checks that sequences with a cache can be serialized and resumed.
   *
   * @throws InvalidInputException with one sentence if they cannot
   */
  default void requireStorable(CacheSpec spec) {}

  /** Returns whether sequences are stored as pages of a GPU, which the host cannot read. */
  default boolean storesGpuPages() {
    return false;
  }

  /** Returns whether a batch may request hidden states ({@link Batch#addForState}). */
  default boolean givesHiddenStates() {
    return false;
  }

  /**
   * Returns an upper bound of a sequence's bytes while it grows to a number of tokens. Where sizes
   * depend on the vectors, it is an estimate.
   *
   * @param context context with the profile and the limit of the sequence
   * @param stepTokens most tokens of a step
   */
  long maxBytes(CacheSpec spec, CacheContext context, int tokens, int stepTokens);

  /** Returns the bytes that all sequences of a cache type share, apart from their own. */
  long sharedBytes(CacheSpec spec, CacheContext context);

  /**
   * Returns the weights, for callers that compute with them. They live as long as this engine.
   *
   * @throws InvalidInputException if they are not in host memory
   */
  default Weights weights() {
    throw new InvalidInputException(
        "%s: its weights are on %s; this requires weights in host memory"
            .formatted(config().name(), device()));
  }

  /**
   * Runs one step: appends every row to its cache, computes the requested logits and quantizes what
   * has left the residual window.
   *
   * @throws RuntimeException if a sequence of the batch failed; the others have advanced
   */
  default void forward(Batch batch) {
    step(batch);
    batch.quantizeWindow();
    batch.requireNoFailure();
  }
}
