package dev.kvasir.codec;

import dev.kvasir.memory.SharedArena;

/**
 * A method at work on one sequence, with what it has learned of it: patterns, statistics of
 * queries. A method that keeps nothing is a {@link StatelessCodec}.
 */
public interface SequenceCodec extends AutoCloseable {
  /** Learns from all blocks that are about to be sealed, before the first of them is. */
  default void learn(QuantizationBatch batch) {}

  /**
   * Packs the vectors of {@link Page#NOMINAL_TOKENS} tokens. The blocks of a layer come in their
   * order; the arrays may be overwritten.
   *
   * @param memory that the page lies in, and holds until it is closed
   * @param layer which layer they belong to
   * @param position of the first of them: a method that packs keys as they were before rotation
   *     turns them back by it
   * @param keys (kvHeads, tokens, keyDim), rotated to their positions
   * @param values (kvHeads, tokens, valueDim); of any length where they are part of keys
   */
  Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values);

  /** The same in memory of the page's own. */
  default Page quantize(int layer, int position, float[] keys, float[] values) {
    SharedArena own = new SharedArena();
    try {
      return quantize(own, layer, position, keys, values);
    } finally {
      own.release();
    }
  }

  /**
   * A page of {@link Page#form}, as this codec sealed it, or one with the same settings at work on
   * the same sequence. Blocks come in their order, all layers of one before the next.
   *
   * @param memory that the page lies in, and holds until it is closed
   * @throws dev.kvasir.error.InvalidInputException in one sentence, where a bit of it has changed
   *     or this codec seals no such page; nothing is changed by it then
   */
  Page deserialize(SharedArena memory, int layer, Snapshot snapshot);

  /** The same in memory of the page's own. */
  default Page deserialize(int layer, byte[] form) {
    SharedArena own = new SharedArena();
    try {
      return deserialize(own, layer, Snapshot.of(form));
    } finally {
      own.release();
    }
  }

  /**
   * What it keeps of the sequence beside pages and will need, as bytes that outlive the process, in
   * an {@link SnapshotHeader}: {@link PageCodec#resumeSequence} goes on from it. Not while blocks
   * are sealed.
   */
  byte[] serializeState();

  /** Whether {@link #see(int, int)} wants to be called. */
  default boolean observesTokens() {
    return false;
  }

  /**
   * Learns which token stands at a position; called before any of its vectors come, by one thread.
   * A position may come again when a step was broken off.
   */
  default void observe(int position, int token) {}

  /** Whether {@link #see(int, int, float[], int)} wants to be called. */
  default boolean observesQueries() {
    return false;
  }

  /**
   * Learns of a query; called for every token and layer before attention, from any thread for
   * different layers or positions.
   *
   * @param queries (queryHeads, keyDim) from {@code at} on, rotated to their position
   */
  default void observe(int layer, int position, float[] queries, int at) {}

  /**
   * For how many queries, its own included, a token's received attention counts; 0 where nobody
   * wants to know.
   */
  default int attentionHorizon() {
    return 0;
  }

  /**
   * Learns how much the query at a position looks at tokens up to itself that are not packed; by
   * position ascending for each layer and KV head, from any thread for different ones. What a step
   * told counts only once {@link #count} comes: after a step that was broken off, positions come
   * again.
   *
   * @param from position of the first token; the last is the query's own
   * @param weights (count) probabilities of tokens, each query head's rounded to a multiple of
   *     2^-18 and summed over the heads that share the KV head, in units of 2^-18
   */
  default void observeAttention(int layer, int kvHead, int from, int[] weights, int count) {}

  /** Positions up to {@code length} are held by every layer: what was received counts. */
  default void commit(int length) {}

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
