package dev.kvasir.codec;

import dev.kvasir.memory.SharedArena;

/**
 * A method at work on one sequence, with what it has learned of it: patterns, statistics of
 * queries. A method that keeps nothing is a {@link StatelessCodec}.
 */
public interface SequenceCodec extends AutoCloseable {
  /** Learns from all blocks that are about to be sealed, before the first of them is. */
  default void learn(SealingRun run) {}

  /**
   * Packs the vectors of {@link Page#TOKENS} tokens. The blocks of a layer come in their order; the
   * arrays may be overwritten.
   *
   * @param memory that the page lies in, and holds until it is closed
   * @param layer which layer they belong to
   * @param position of the first of them: a method that packs keys as they were before rotation
   *     turns them back by it
   * @param keys (kvHeads, tokens, keyDim), rotated to their positions
   * @param values (kvHeads, tokens, valueDim); of any length where they are part of keys
   */
  Page seal(SharedArena memory, int layer, int position, float[] keys, float[] values);

  /** The same in memory of the page's own. */
  default Page seal(int layer, int position, float[] keys, float[] values) {
    SharedArena own = new SharedArena();
    try {
      return seal(own, layer, position, keys, values);
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
  Page read(SharedArena memory, int layer, Form form);

  /** The same in memory of the page's own. */
  default Page read(int layer, byte[] form) {
    SharedArena own = new SharedArena();
    try {
      return read(own, layer, Form.of(form));
    } finally {
      own.release();
    }
  }

  /**
   * What it keeps of the sequence beside pages and will need, as bytes that outlive the process, in
   * an {@link Envelope}: {@link PageCodec#resume} goes on from it. Not while blocks are sealed.
   */
  byte[] state();

  /** Whether {@link #see(int, int)} wants to be called. */
  default boolean seesTokens() {
    return false;
  }

  /**
   * Learns which token stands at a position; called before any of its vectors come, by one thread.
   * A position may come again when a step was broken off.
   */
  default void see(int position, int token) {}

  /** Whether {@link #see(int, int, float[], int)} wants to be called. */
  default boolean seesQueries() {
    return false;
  }

  /**
   * Learns of a query; called for every token and layer before attention, from any thread for
   * different layers or positions.
   *
   * @param queries (queryHeads, keyDim) from {@code at} on, rotated to their position
   */
  default void see(int layer, int position, float[] queries, int at) {}

  /**
   * For how many queries, its own included, a token's received attention counts; 0 where nobody
   * wants to know.
   */
  default int receivingQueries() {
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
  default void receive(int layer, int kvHead, int from, int[] weights, int count) {}

  /** Positions up to {@code length} are held by every layer: what was received counts. */
  default void count(int length) {}

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
