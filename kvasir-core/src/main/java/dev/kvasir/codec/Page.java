package dev.kvasir.codec;

import dev.kvasir.page.PageSize;

/**
 * The keys and values of {@link #NOMINAL_TOKENS} tokens in one layer, packed. A page never changes
 * once it is sealed, so sequences may share it.
 */
public interface Page extends AutoCloseable {
  /** Tokens on a page. */
  int TOKENS = PageSize.TOKENS;

  /**
   * What computes on it where a few query rows attend, of the readers that a worker keeps. Many
   * rows share what {@link #dequantizeKeys} and {@link #dequantizeValues} make of it.
   */
  default PageReader reader(PageReaders readers) {
    return readers.of(DequantizingReader.KIND);
  }

  /** The first {@code tokens} keys of a KV head as floats: (tokens, keyDim). */
  void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out);

  /** The first {@code tokens} values of a KV head as floats: (tokens, valueDim). */
  void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out);

  /**
   * All of it as bytes that outlive the process, in an {@link SnapshotHeader}. What it has in
   * common with other pages of its model or sequence is known to the codec that reads it, {@link
   * SequenceCodec#read}.
   */
  byte[] serialize();

  /** Bytes of codes. */
  long codeBytes();

  /** Bytes of scales and zero points. */
  long scaleBytes();

  @Override
  void close();
}
