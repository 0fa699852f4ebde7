package dev.kvasir.kernel;

/**
 * Long sums of floats in a stated order, which is part of their definition. {@code lanes} partial
 * sums are kept, as a vector of that many lanes keeps them; neighbours are added until one is left,
 * (0 + 1) + (2 + 3) and so on, as vectors are added in halves; and then comes what is left over.
 *
 * @param lanes a power of two, at least four
 */
record PartialSums(int lanes) {
  /** What a machine with vectors of 128 bits has. */
  static final int LEAST_LANES = 4;

  PartialSums {
    if (lanes < LEAST_LANES || Integer.bitCount(lanes) != 1) {
      throw new IllegalArgumentException(
          "lanes is %d; expected a power of two from %d on".formatted(lanes, LEAST_LANES));
    }
  }

  float dot(float[] a, int aAt, float[] b, int bAt, int depth) {
    int whole = depth - depth % lanes;
    float sum = dots(a, aAt, b, bAt, whole, 0, lanes);
    for (int k = whole; k < depth; k++) {
      sum = Math.fma(a[aAt + k], b[bAt + k], sum);
    }
    return sum;
  }

  /** The total of {@code count} partial sums; four at a time, which hides some of their latency. */
  private float dots(float[] a, int aAt, float[] b, int bAt, int whole, int lane, int count) {
    if (count > LEAST_LANES) {
      int half = count / 2;
      return dots(a, aAt, b, bAt, whole, lane, half)
          + dots(a, aAt, b, bAt, whole, lane + half, half);
    }
    float s0 = 0;
    float s1 = 0;
    float s2 = 0;
    float s3 = 0;
    for (int k = lane; k < whole; k += lanes) {
      s0 = Math.fma(a[aAt + k], b[bAt + k], s0);
      s1 = Math.fma(a[aAt + k + 1], b[bAt + k + 1], s1);
      s2 = Math.fma(a[aAt + k + 2], b[bAt + k + 2], s2);
      s3 = Math.fma(a[aAt + k + 3], b[bAt + k + 3], s3);
    }
    return (s0 + s1) + (s2 + s3);
  }

  /**
   * The product of vectors that turn: a partial sum takes x and y of a pair in turn, so that what
   * turns can be multiplied at once.
   *
   * @param a // (x and y, pairs) from {@code aAt} on, as b
   * @param pairs a multiple of {@link #lanes}
   */
  float dotOfPairs(float[] a, int aAt, float[] b, int bAt, int pairs) {
    return dotsOfPairs(a, aAt, b, bAt, pairs, 0, lanes);
  }

  private float dotsOfPairs(
      float[] a, int aAt, float[] b, int bAt, int pairs, int lane, int count) {
    if (count > 1) {
      int half = count / 2;
      return dotsOfPairs(a, aAt, b, bAt, pairs, lane, half)
          + dotsOfPairs(a, aAt, b, bAt, pairs, lane + half, half);
    }
    float partial = 0;
    for (int i = lane; i < pairs; i += lanes) {
      partial = Math.fma(a[aAt + i], b[bAt + i], partial);
      partial = Math.fma(a[aAt + pairs + i], b[bAt + pairs + i], partial);
    }
    return partial;
  }

  /** A partial sum takes two neighbouring channels in turn, as two halves share a 32-bit lane. */
  float pairedDot(float[] a, int aAt, float[] b, int depth) {
    int whole = depth - depth % (2 * lanes);
    float sum = pairedDots(a, aAt, b, whole, 0, lanes);
    for (int k = whole; k < depth; k++) {
      sum = Math.fma(a[aAt + k], b[k], sum);
    }
    return sum;
  }

  private float pairedDots(float[] a, int aAt, float[] b, int whole, int lane, int count) {
    if (count > 1) {
      int half = count / 2;
      return pairedDots(a, aAt, b, whole, lane, half)
          + pairedDots(a, aAt, b, whole, lane + half, half);
    }
    float partial = 0;
    for (int k = 2 * lane; k < whole; k += 2 * lanes) {
      partial = Math.fma(a[aAt + k], b[k], partial);
      partial = Math.fma(a[aAt + k + 1], b[k + 1], partial);
    }
    return partial;
  }

  float sum(float[] x, int at, int count) {
    int whole = count - count % lanes;
    float sum = sums(x, at, whole, 0, lanes);
    for (int i = whole; i < count; i++) {
      sum += x[at + i];
    }
    return sum;
  }

  private float sums(float[] x, int at, int whole, int lane, int count) {
    if (count > 1) {
      int half = count / 2;
      return sums(x, at, whole, lane, half) + sums(x, at, whole, lane + half, half);
    }
    float partial = 0;
    for (int i = lane; i < whole; i += lanes) {
      partial += x[at + i];
    }
    return partial;
  }
}
