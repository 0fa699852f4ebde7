package dev.kvasir.codec.basis;

/**
 * An invertible linear map of a head's channels, applied before quantization. Vectors are (rows,
 * channels) and change in place, without heap allocation.
 */
public interface HeadBasis {
  /** Transforms vectors into the basis in which they are quantized. */
  void transform(int kvHead, float[] x, int at, int rows);

  /** Applies the inverse of {@link #transform}. */
  void invert(int kvHead, float[] x, int at, int rows);

  /**
   * Transforms queries so that their products with transformed keys equal the original scores. An
   * orthogonal map transforms both alike.
   */
  default void transformQueries(int kvHead, float[] queries, int at, int rows) {
    transform(kvHead, queries, at, rows);
  }

  /** Returns the bytes of its parameters, which all sequences share. */
  default long bytes() {
    return 0;
  }

  /** Returns a number that distinguishes bases, to check stored pages. */
  int fingerprint();
}
