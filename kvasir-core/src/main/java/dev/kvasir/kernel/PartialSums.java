package dev.kvasir.kernel;

/**
 * Long sums of floats in a stated order, which is part of their definition: {@code lanes} partial
 * sums, as a vector of that many lanes keeps them, are added from the first to the last, and then
 * what is left over.
 */
record PartialSums(int lanes) {
  /** What a machine with vectors of 128 bits has. */
  static final int LEAST_LANES = 4;

  PartialSums {
    if (lanes < LEAST_LANES || lanes % LEAST_LANES != 0) {
      throw new IllegalArgumentException(
          "lanes is %d; expected a multiple of %d".formatted(lanes, LEAST_LANES));
    }
  }

  /** Four partial sums at a time, which hides some of the latency of each. */
  float dot(float[] a, int aAt, float[] b, int bAt, int depth) {
    int whole = depth - depth % lanes;
    float sum = 0;
    for (int lane = 0; lane < lanes; lane += LEAST_LANES) {
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
      sum = sum + s0 + s1 + s2 + s3;
    }
    for (int k = whole; k < depth; k++) {
      sum = Math.fma(a[aAt + k], b[bAt + k], sum);
    }
    return sum;
  }

  /** A partial sum takes two neighbouring channels in turn, as two halves share a 32-bit lane. */
  float pairedDot(float[] a, int aAt, float[] b, int depth) {
    int whole = depth - depth % (2 * lanes);
    float sum = 0;
    for (int lane = 0; lane < lanes; lane++) {
      float partial = 0;
      for (int k = 2 * lane; k < whole; k += 2 * lanes) {
        partial = Math.fma(a[aAt + k], b[k], partial);
        partial = Math.fma(a[aAt + k + 1], b[k + 1], partial);
      }
      sum += partial;
    }
    for (int k = whole; k < depth; k++) {
      sum = Math.fma(a[aAt + k], b[k], sum);
    }
    return sum;
  }

  float sum(float[] x, int at, int count) {
    int whole = count - count % lanes;
    float sum = 0;
    for (int lane = 0; lane < lanes; lane++) {
      float partial = 0;
      for (int i = lane; i < whole; i += lanes) {
        partial += x[at + i];
      }
      sum += partial;
    }
    for (int i = whole; i < count; i++) {
      sum += x[at + i];
    }
    return sum;
  }
}
