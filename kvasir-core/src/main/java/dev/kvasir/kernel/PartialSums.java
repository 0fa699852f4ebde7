package dev.kvasir.kernel;

/**
 * Long sums of floats in a fixed order, which is part of their definition and the same on every
 * machine. Number k goes to partial sum k % {@value #COUNT}. At the end, neighbours are added until
 * one is left, (0 + 1) + (2 + 3) and so on. Numbers beyond the last multiple of sixteen follow one
 * by one.
 *
 * <p>Sixteen partial sums fill one vector of AVX-512, two of AVX2 and four of NEON.
 */
public final class PartialSums {
  /** The number of partial sums. */
  public static final int COUNT = 16;

  private PartialSums() {}

  static float dot(float[] a, int aAt, float[] b, int bAt, int depth) {
    int whole = depth & -COUNT;
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    float s4 = 0;
    float s5 = 0;
    float s6 = 0;
    float s7 = 0;
    float s8 = 0;
    float s9 = 0;
    float s10 = 0;
    float s11 = 0;
    float s12 = 0;
    float s13 = 0;
    float s14 = 0;
    float s15 = 0;
    for (int k = 0; k < whole; k += COUNT) {
      int i = aAt + k;
      int j = bAt + k;
      s0 = Math.fma(a[i], b[j], s0);
      s1 = Math.fma(a[i + 1], b[j + 1], s1);
      s2 = Math.fma(a[i + 2], b[j + 2], s2);
      s3 = Math.fma(a[i + 3], b[j + 3], s3);
      s4 = Math.fma(a[i + 4], b[j + 4], s4);
      s5 = Math.fma(a[i + 5], b[j + 5], s5);
      s6 = Math.fma(a[i + 6], b[j + 6], s6);
      s7 = Math.fma(a[i + 7], b[j + 7], s7);
      s8 = Math.fma(a[i + 8], b[j + 8], s8);
      s9 = Math.fma(a[i + 9], b[j + 9], s9);
      s10 = Math.fma(a[i + 10], b[j + 10], s10);
      s11 = Math.fma(a[i + 11], b[j + 11], s11);
      s12 = Math.fma(a[i + 12], b[j + 12], s12);
      s13 = Math.fma(a[i + 13], b[j + 13], s13);
      s14 = Math.fma(a[i + 14], b[j + 14], s14);
      s15 = Math.fma(a[i + 15], b[j + 15], s15);
    }
    float low = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
    float high = ((s8 + s9) + (s10 + s11)) + ((s12 + s13) + (s14 + s15));
    float sum = low + high;
    for (int k = whole; k < depth; k++) {
      sum = Math.fma(a[aAt + k], b[bAt + k], sum);
    }
    return sum;
  }

  /**
   * Returns the product of vectors of pairs. A partial sum takes x and then y of a pair, so that a
   * vector can be multiplied while it is rotated.
   *
   * @param a // (x and y, pairs) from {@code aAt} on, as b
   * @param pairs a multiple of {@link #COUNT}
   */
  static float dotOfPairs(float[] a, int aAt, float[] b, int bAt, int pairs) {
    return dotsOfPairs(a, aAt, b, bAt, pairs, 0, COUNT);
  }

  private static float dotsOfPairs(
      float[] a, int aAt, float[] b, int bAt, int pairs, int first, int count) {
    if (count > 1) {
      int half = count / 2;
      return dotsOfPairs(a, aAt, b, bAt, pairs, first, half)
          + dotsOfPairs(a, aAt, b, bAt, pairs, first + half, half);
    }
    float partial = 0;
    for (int i = first; i < pairs; i += COUNT) {
      partial = Math.fma(a[aAt + i], b[bAt + i], partial);
      partial = Math.fma(a[aAt + pairs + i], b[bAt + pairs + i], partial);
    }
    return partial;
  }

  static float sum(float[] x, int at, int count) {
    int whole = count & -COUNT;
    float sum = sums(x, at, whole, 0, COUNT);
    for (int i = whole; i < count; i++) {
      sum += x[at + i];
    }
    return sum;
  }

  private static float sums(float[] x, int at, int whole, int first, int count) {
    if (count > 1) {
      int half = count / 2;
      return sums(x, at, whole, first, half) + sums(x, at, whole, first + half, half);
    }
    float partial = 0;
    for (int i = first; i < whole; i += COUNT) {
      partial += x[at + i];
    }
    return partial;
  }
}
