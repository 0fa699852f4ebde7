package dev.kvasir.page;

/**
 * The keys and values of {@link #TOKENS} tokens in one layer, packed. A page never changes once it
 * is sealed, so sequences may share it.
 */
public interface Page extends AutoCloseable {
  /** Tokens on a page. */
  int TOKENS = 128;

  /** The first {@code tokens} keys of a KV head as floats: (tokens, headDim). */
  void expandKeys(int kvHead, int tokens, float[] out);

  /** The first {@code tokens} values of a KV head as floats: (tokens, headDim). */
  void expandValues(int kvHead, int tokens, float[] out);

  /** Bytes of codes. */
  long codeBytes();

  /** Bytes of scales and zero points. */
  long scaleBytes();

  @Override
  void close();
}
