package dev.kvasir.codec;

/**
 * A method with its settings, for one model: how tokens become pages. It is shared by all
 * sequences; what it keeps of one is that sequence's {@link SequenceCodec}.
 */
public interface PageCodec {
  SequenceCodec begin();

  /** Bytes of a page of one layer. */
  long pageBytes();

  /** Those of its bytes that are codes. */
  long codeBytes();

  /** Bytes of a block: a page of each layer. */
  default long blockBytes(int layers) {
    return layers * pageBytes();
  }

  /** Those of its bytes that are codes. */
  default long blockCodeBytes(int layers) {
    return layers * codeBytes();
  }

  /**
   * Bytes that a sequence keeps beside its pages once so many blocks are sealed, had its tokens
   * come one by one.
   */
  default long tableBytes(int sealedBlocks) {
    return 0;
  }
}
