package dev.kvasir.codec.basis;

/**
 * A basis that vectors of heads are packed in: a linear map of a head's channels that can be taken
 * back. Vectors are (rows, channels), changed in place; nothing is taken from the heap.
 */
public interface HeadBasis {
  /** Vectors as they are packed. */
  void transform(int kvHead, float[] x, int at, int rows);

  /** The inverse of {@link #change}. */
  void invert(int kvHead, float[] x, int at, int rows);

  /**
   * Queries as they meet changed keys: products are those of what was changed. An orthogonal map
   * changes both alike.
   */
  default void transformQueries(int kvHead, float[] queries, int at, int rows) {
    transform(kvHead, queries, at, rows);
  }

  /** Bytes of its numbers, which all sequences share. */
  default long bytes() {
    return 0;
  }

  /** A number of which bases that differ have different ones, by which stored pages are told. */
  int fingerprint();
}
