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
}
