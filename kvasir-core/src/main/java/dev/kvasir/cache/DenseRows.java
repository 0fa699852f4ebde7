package dev.kvasir.cache;

import dev.kvasir.kernel.DenseMatrix;

/**
 * A layer's vectors in a block that is not packed, one vector a row. A token's value has the row
 * that its key has.
 *
 * @param keys the keys of all layers of a group
 * @param values the values of those layers; the keys, where values are their first channels
 * @param first the row of the first KV head's first token
 * @param capacity rows from a KV head to the next
 */
public record DenseRows(DenseMatrix keys, DenseMatrix values, int first, int capacity) {
  /** Of a KV head's first token. */
  public int firstRow(int kvHead) {
    return first + kvHead * capacity;
  }
}
