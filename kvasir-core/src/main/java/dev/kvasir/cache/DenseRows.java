package dev.kvasir.cache;

import dev.kvasir.kernel.DenseMatrix;

/**
 * A layer's vectors in a block that is not packed, one vector a row.
 *
 * @param matrix the rows of all layers
 * @param keys the row of the first KV head's first key
 * @param values the row of the first KV head's first value
 * @param capacity rows from a KV head to the next
 */
public record DenseRows(DenseMatrix matrix, int keys, int values, int capacity) {
  public int firstKey(int kvHead) {
    return keys + kvHead * capacity;
  }

  public int firstValue(int kvHead) {
    return values + kvHead * capacity;
  }
}
