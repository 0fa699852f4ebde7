package dev.kvasir.cache;

import dev.kvasir.kernel.Kernels;

/**
 * What one sequence remembers: the keys and values of every layer and position. Positions are
 * appended layer by layer while a step runs and count only once {@link #advance} says that all
 * layers have them.
 */
public interface KvCache extends AutoCloseable {
  /** Tokens on a page. */
  int TOKENS_PER_PAGE = 128;

  /** Positions that every layer holds. */
  int length();

  /** Takes the memory for {@code length} positions; nothing is taken ahead of that. */
  void reserve(int length);

  /** Stores the keys and values of all KV heads at a reserved position of a layer. */
  void append(int layer, int position, float[] keys, int keysAt, float[] values, int valuesAt);

  /** Counts the next {@code positions} as held. */
  void advance(int positions);

  /** Forgets every position from {@code length} on and frees the pages that held only those. */
  void truncate(int length);

  /** The first {@code tokens} keys of a page as floats. */
  void expandKeys(Kernels kernels, int layer, int kvHead, int page, int tokens, float[] out);

  /** The first {@code tokens} values of a page as floats. */
  void expandValues(Kernels kernels, int layer, int kvHead, int page, int tokens, float[] out);

  /** Bytes that are allocated for it now. */
  long bytes();

  @Override
  void close();
}
