package dev.kvasir.codec;

import dev.kvasir.page.PageSize;

/**
 * The quantized keys and values of {@link #TOKENS} tokens in one layer. A page is immutable, so
 * sequences may share it.
 */
public interface Page extends AutoCloseable {
  /** Tokens of a page. */
  int TOKENS = PageSize.TOKENS;

  /**
   * Returns the reader that attends to this page for a few query rows. Many query rows use {@link
   * #dequantizeKeys} and {@link #dequantizeValues} instead.
   *
   * @param readers the readers of the calling worker
   */
  default PageReader reader(PageReaders readers) {
    return readers.of(DequantizingReader.KIND);
  }

  /** Writes the first {@code tokens} keys of a KV head as floats: (tokens, keyDim). */
  void dequantizeKeys(PageWorkspace workspace, int kvHead, int tokens, float[] out);

  /** Writes the first {@code tokens} values of a KV head as floats: (tokens, valueDim). */
  void dequantizeValues(PageWorkspace workspace, int kvHead, int tokens, float[] out);

  /**
   * Returns the page as persistent bytes with a {@link SnapshotHeader}. Data shared with other
   * pages of the model or sequence is not included; the codec that reads the page provides it
   * ({@link SequenceCodec#deserialize(dev.kvasir.memory.SharedArena, int, Snapshot)}).
   */
  byte[] serialize();

  long codeBytes();

  /** Returns the bytes of scales and zero points. */
  long scaleBytes();

  @Override
  void close();
}
