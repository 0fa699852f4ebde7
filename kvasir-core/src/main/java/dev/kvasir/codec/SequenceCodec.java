package dev.kvasir.codec;

import dev.kvasir.memory.SharedArena;

/**
 * The codec of one sequence, with its state, such as patterns or query statistics. A codec without
 * state is a {@link StatelessCodec}.
 */
public interface SequenceCodec extends SequenceObserver, AutoCloseable {
  /** Learns from all blocks of a batch before the first of them is quantized. */
  default void learn(QuantizationBatch batch) {}

  /**
   * Quantizes the vectors of {@link Page#TOKENS} tokens. The blocks of a layer arrive in order. The
   * arrays may be overwritten.
   *
   * @param memory the memory of the page, which retains it until closed
   * @param layer the layer of the vectors
   * @param position of the first token; a method that quantizes keys before rotation uses it to
   *     undo the rotation
   * @param keys (kvHeads, tokens, keyDim), rotated to their positions
   * @param values (kvHeads, tokens, valueDim); of any length if values are part of keys
   */
  Page quantize(SharedArena memory, int layer, int position, float[] keys, float[] values);

  /** Quantizes a block in the page's own memory. */
  default Page quantize(int layer, int position, float[] keys, float[] values) {
    SharedArena own = new SharedArena();
    try {
      return quantize(own, layer, position, keys, values);
    } finally {
      own.release();
    }
  }

  /**
   * Reads a page from {@link Page#serialize}. It was created by this codec, or by one with the same
   * settings for the same sequence. Blocks arrive in order, all layers of one before the next.
   *
   * @param memory the memory of the page, which retains it until closed
   * @throws dev.kvasir.error.InvalidInputException if the page is damaged or does not belong to
   *     this codec; the state is then unchanged
   */
  Page deserialize(SharedArena memory, int layer, Snapshot snapshot);

  /** Reads a page into its own memory. */
  default Page deserialize(int layer, byte[] bytes) {
    SharedArena own = new SharedArena();
    try {
      return deserialize(own, layer, Snapshot.of(bytes));
    } finally {
      own.release();
    }
  }

  /**
   * Returns the state of the sequence, without pages, as persistent bytes with a {@link
   * SnapshotHeader}. {@link PageCodec#resumeSequence} continues from it. Must not be called while
   * blocks are being quantized.
   */
  byte[] serializeState();

  /** Commits observations: every layer now has the positions before {@code length}. */
  default void commit(int length) {}

  /** Returns the bytes of the sequence's state. */
  default long tableBytes() {
    return 0;
  }

  /** Returns the codec of another sequence with the same past. Immutable data may be shared. */
  SequenceCodec fork();

  /** Drops state that belongs to positions from {@code length} on, where it can be separated. */
  default void truncate(int length) {}

  @Override
  default void close() {}
}
