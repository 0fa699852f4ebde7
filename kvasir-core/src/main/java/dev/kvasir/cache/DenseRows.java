package dev.kvasir.cache;

import dev.kvasir.kernel.DenseMatrix;

/**
 * A layer's vectors in a dense block, one vector per row. A token's key and value have the same
 * row.
 *
 * @param keys the keys of all layers of a group
 * @param values the values of those layers; the keys, where values are their first channels
 * @param first the row of the first KV head's first token
 * @param capacity rows from one KV head to the next
 */
public record DenseRows(DenseMatrix keys, DenseMatrix values, int first, int capacity) {
  /** Returns the row of a KV head's first token. */
  public int firstRow(int kvHead) {
    return first + kvHead * capacity;
  }
}
