package dev.kvasir.codec;

import dev.kvasir.memory.MemoryPool;

/**
 * A method with its settings, for one model: how tokens become pages. It is shared by all
 * sequences; what it keeps of one is that sequence's {@link SequenceCodec}.
 */
public interface PageCodec {
  /**
   * @param pool that what it keeps of the sequence is taken from
   */
  SequenceCodec newSequence(MemoryPool pool);

  /** The same with as much memory as there is. */
  default SequenceCodec newSequence() {
    return newSequence(MemoryPool.unlimited());
  }

  /**
   * Goes on with a sequence that was stored, by its {@link SequenceCodec#state}. Once its pages
   * have been read, all that follows has the same bits as if it had never stopped.
   *
   * @param pool that what it keeps of the sequence is taken from
   * @throws dev.kvasir.error.InvalidInputException in one sentence, where a bit of the state has
   *     changed or this method with these settings has no such state
   */
  SequenceCodec resumeSequence(MemoryPool pool, byte[] state);

  /** The same with as much memory as there is. */
  default SequenceCodec resumeSequence(byte[] state) {
    return resumeSequence(MemoryPool.unlimited(), state);
  }

  /** How well the bytes of a page are known before there is one. */
  enum SizeAccuracy {
    EXACT,

    /** They depend on the vectors; foretold is what was usual when it was measured. */
    TYPICAL,

    /** They depend on the vectors; foretold is what no page exceeds. */
    AT_MOST
  }

  default SizeAccuracy sizes() {
    return SizeAccuracy.EXACT;
  }

  /**
   * Whether attention of many query rows is faster on the packed bits, eight rows at a time, than
   * on a page that is expanded for all of them.
   */
  default boolean prefersQuantizedPrefill() {
    return false;
  }

  /** Query rows at the most that readers of its pages take together. */
  default int maxQueryRows() {
    return PageReader.MAX_ROWS;
  }

  /**
   * Whether a stored page, when it is read, leaves nothing with its sequence: what it says is
   * compared with what is known, and the rest is itself. Then the checksum of a page that stays
   * where it is mapped can wait until attention begins.
   */
  default boolean allowsDeferredCheck() {
    return false;
  }

  /** Blocks that are sealed in one go, because they have in common what is learned of them. */
  default int blocksPerGroup() {
    return 1;
  }

  /**
   * Whether pages of some layers may be let go once they are out of their windows, or never be
   * made, while other layers keep theirs: what is packed or read later depends on none of them.
   */
  default boolean hasIndependentLayers() {
    return false;
  }

  /** Bytes of a page, of the largest where layers differ. */
  long pageBytes();

  /** Those of its bytes that are codes. */
  long codeBytes();

  /** Bytes of a page of one layer. */
  default long pageBytes(int layer) {
    return pageBytes();
  }

  /** Those of its bytes that are codes. */
  default long codeBytes(int layer) {
    return codeBytes();
  }

  /**
   * Bytes that a sequence keeps beside its pages once so many blocks are sealed, had its tokens
   * come one by one.
   */
  default long tableBytes(int quantizedBlocks) {
    return 0;
  }

  /** Bytes that all sequences of a model share, which no sequence's account includes. */
  default long sharedBytes() {
    return 0;
  }
}
