package dev.kvasir.codec;

import dev.kvasir.memory.MemoryPool;

/**
 * A quantization method with its settings for one model: turns tokens into pages. All sequences
 * share it. The state of a sequence is in its {@link SequenceCodec}.
 */
public interface PageCodec {
  /**
   * Returns the codec of a new sequence.
   *
   * @param pool provides the memory of the sequence's state
   */
  SequenceCodec newSequence(MemoryPool pool);

  /** Returns the codec of a new sequence with unlimited memory. */
  default SequenceCodec newSequence() {
    return newSequence(MemoryPool.unlimited());
  }

  /**
   * Returns the codec of a stored sequence from its {@link SequenceCodec#serializeState}. Once the
   * pages have been read as well, all further results are bit-identical to an uninterrupted
   * sequence.
   *
   * @param pool provides the memory of the sequence's state
   * @throws dev.kvasir.error.InvalidInputException if the state is damaged or does not fit this
   *     method and its settings
   */
  SequenceCodec resumeSequence(MemoryPool pool, byte[] state);

  /** Returns the codec of a stored sequence with unlimited memory. */
  default SequenceCodec resumeSequence(byte[] state) {
    return resumeSequence(MemoryPool.unlimited(), state);
  }

  /** How accurately the size of a page is known before the page exists. */
  enum SizeAccuracy {
    EXACT,

    /** The size depends on the vectors; the estimate is typical of measured pages. */
    TYPICAL,

    /** The size depends on the vectors; the estimate is an upper bound. */
    AT_MOST
  }

  default SizeAccuracy sizes() {
    return SizeAccuracy.EXACT;
  }

  /**
   * Returns whether attention of many query rows is faster on the codes, eight rows at a time, than
   * on a page dequantized once for all rows.
   */
  default boolean prefersQuantizedPrefill() {
    return false;
  }

  /** Returns the maximum query rows that readers of its pages process together. */
  default int maxQueryRows() {
    return PageReader.MAX_ROWS;
  }

  /**
   * Returns how many adjacent KV heads read a page faster together, because they share codes: a
   * divisor of the KV heads. Results are the same.
   */
  default int headsPerPass() {
    return 1;
  }

  /**
   * Returns whether reading a stored page leaves the state of its sequence unchanged. If so, the
   * checksum of a memory-mapped page can wait until attention starts.
   */
  default boolean allowsDeferredCheck() {
    return false;
  }

  /** Returns the number of blocks that are quantized together because they share statistics. */
  default int blocksPerGroup() {
    return 1;
  }

  /**
   * Returns whether layers are independent: pages that left the window of a layer can be evicted,
   * or never be created, while other layers keep theirs. No later result may depend on them.
   */
  default boolean hasIndependentLayers() {
    return false;
  }

  /** Returns the bytes of a page, or of the largest page if layers differ. */
  long pageBytes();

  /** Returns the bytes of codes in such a page. */
  long codeBytes();

  /** Returns the bytes of a layer's page. */
  default long pageBytes(int layer) {
    return pageBytes();
  }

  /** Returns the bytes of codes in a layer's page. */
  default long codeBytes(int layer) {
    return codeBytes();
  }

  /**
   * Returns the bytes of a sequence's state after a number of blocks, for tokens that arrived one
   * at a time.
   */
  default long tableBytes(int quantizedBlocks) {
    return 0;
  }

  /** Returns the bytes that all sequences of a model share. No sequence's usage includes them. */
  default long sharedBytes() {
    return 0;
  }
}
