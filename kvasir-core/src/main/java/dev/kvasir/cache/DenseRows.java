package dev.kvasir.cache;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.Kernels;

/**
 * A layer's vectors in a dense block, one vector per row. A token's key and value have the same
 * row.
 *
 * @param keys the keys of all layers of a group
 * @param values the values of those layers; the keys, where values are their first channels
 * @param valueDim channels of a value
 * @param first the row of the first KV head's first token
 * @param capacity rows from one KV head to the next
 */
public record DenseRows(DenseMatrix keys, DenseMatrix values, int valueDim, int first, int capacity)
    implements BlockView {
  private int firstRow(int kvHead) {
    return first + kvHead * capacity;
  }

  @Override
  public boolean prefetch(BlockReaders readers, int kvHead) {
    return false;
  }

  @Override
  public int tokensToRead(int visible) {
    return visible;
  }

  @Override
  public void score(
      BlockReaders readers, int kvHead, int tokens, float[] queries, int rows, float[] scores) {
    score(readers, kvHead, 0, tokens, queries, rows, scores);
  }

  /**
   * Computes the scores of {@code tokens} tokens from one on.
   *
   * @param from first token within the block
   * @param queries (rows, keyDim)
   * @param scores (rows, {@link Page#TOKENS}), set from the start of each row
   */
  public void score(
      BlockReaders readers,
      int kvHead,
      int from,
      int tokens,
      float[] queries,
      int rows,
      float[] scores) {
    int row = firstRow(kvHead) + from;
    boolean isStored = readers.computesOnStored();
    readers.dense().score(this, row, tokens, isStored, queries, rows, scores);
  }

  @Override
  public void accumulate(
      BlockReaders readers,
      int kvHead,
      int tokens,
      float[] weights,
      int rows,
      float[] accumulator) {
    int row = firstRow(kvHead);
    boolean isStored = readers.computesOnStored();
    readers.dense().accumulate(this, row, tokens, isStored, weights, rows, accumulator);
  }

  @Override
  public void expandKeys(Kernels kernels, int kvHead, int tokens, float[] out) {
    kernels.expand(keys, firstRow(kvHead), tokens, out, 0);
  }

  @Override
  public void expandValues(Kernels kernels, int kvHead, int tokens, float[] out) {
    if (values.columns() == valueDim) {
      kernels.expand(values, firstRow(kvHead), tokens, out, 0);
      return;
    }
    float[] key = new float[keys.columns()];
    for (int token = 0; token < tokens; token++) {
      kernels.expand(keys, firstRow(kvHead) + token, 1, key, 0);
      System.arraycopy(key, 0, out, token * valueDim, valueDim);
    }
  }

  @Override
  public Page page() {
    return null;
  }
}
