package dev.kvasir.codec;

/**
 * Observes what runs through a step of a sequence: tokens, queries and attention mass. Methods may
 * quantize by these observations. Every method may be left out: by default nothing is observed.
 */
public interface SequenceObserver {
  /** Observes nothing. */
  SequenceObserver NONE = new SequenceObserver() {};

  /** Returns whether {@link #observe(int, int)} should be called. */
  default boolean observesTokens() {
    return false;
  }

  /**
   * Observes the token at a position. Called by one thread, before any vectors of the token. A
   * position may repeat after an aborted step.
   */
  default void observe(int position, int token) {}

  /** Returns whether {@link #observe(int, int, float[], int)} should be called. */
  default boolean observesQueries() {
    return false;
  }

  /**
   * Observes the queries of a token. Called for every token and layer before attention, from any
   * thread for different layers or positions.
   *
   * @param queries (queryHeads, keyDim) from {@code at} on, rotated to their position
   */
  default void observe(int layer, int position, float[] queries, int at) {}

  /**
   * Returns for how many queries, including its own, the attention to a token is observed; 0 to
   * disable.
   */
  default int attentionHorizon() {
    return 0;
  }

  /**
   * Observes the attention of a query to residual tokens up to its own position. Positions ascend
   * for each layer and KV head; different ones may be called from any thread. Observations take
   * effect once the positions are committed. After an aborted step, positions repeat.
   *
   * @param from position of the first token; the last is the query's own
   * @param weights (count) probabilities of tokens: each query head's rounded to a multiple of
   *     2^-18, summed over the heads that share the KV head, in units of 2^-18
   */
  default void observeAttention(int layer, int kvHead, int from, int[] weights, int count) {}

  /** Returns whether it observes queries or attention, so that results depend on them. */
  default boolean dependsOnAttention() {
    return observesQueries() || attentionHorizon() > 0;
  }
}
