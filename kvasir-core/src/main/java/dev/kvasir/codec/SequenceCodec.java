package dev.kvasir.codec;

/**
 * A method at work on one sequence, with what it has learned of it: patterns, statistics of
 * queries. A method that keeps nothing needs but {@link #seal}.
 */
public interface SequenceCodec extends AutoCloseable {
  /** Learns from all blocks that are about to be sealed, before the first of them is. */
  default void learn(SealingRun run) {}

  /**
   * Packs the vectors of {@link Page#TOKENS} tokens. The blocks of a layer come in their order; the
   * arrays may be overwritten.
   *
   * @param layer which layer they belong to
   * @param position of the first of them: a method that packs keys as they were before rotation
   *     turns them back by it
   * @param keys (kvHeads, tokens, headDim), rotated to their positions
   * @param values (kvHeads, tokens, headDim)
   */
  Page seal(int layer, int position, float[] keys, float[] values);

  /** Whether {@link #see} wants to be called. */
  default boolean seesQueries() {
    return false;
  }

  /**
   * Learns of a query; called for every token and layer before attention, from any thread for
   * different layers or positions.
   *
   * @param queries (queryHeads, headDim) from {@code at} on, rotated to their position
   */
  default void see(int layer, int position, float[] queries, int at) {}

  /** Bytes that are kept beside pages. */
  default long tableBytes() {
    return 0;
  }

  /** The same for another sequence with the same past; what is immutable may be shared. */
  SequenceCodec fork();

  /** Forgets what belongs to positions from {@code length} on, where that can be told apart. */
  default void truncate(int length) {}

  @Override
  default void close() {}
}
