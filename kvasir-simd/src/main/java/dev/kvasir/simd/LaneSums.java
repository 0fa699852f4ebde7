package dev.kvasir.simd;

import jdk.incubator.vector.FloatVector;

/**
 * Sums across the lanes of vectors in the order that {@link dev.kvasir.kernel.ScalarKernels}
 * defines. The API's own reduction leaves the order open: compiled code adds in another order than
 * interpreted code, so the same text would not always come from the same seed.
 */
final class LaneSums {
  /** Vectors that a kernel may leave for summing at a time. */
  static final int MOST_VECTORS = 16;

  private static final int LANES = FloatVector.SPECIES_PREFERRED.length();

  /** Where a scratch has room for four results, after its vectors. */
  static final int RESULTS = MOST_VECTORS * LANES;

  private static final ThreadLocal<float[]> SCRATCH =
      ThreadLocal.withInitial(() -> new float[RESULTS + 4]);

  private LaneSums() {}

  /** This thread's room for vectors, one after another. */
  static float[] scratch() {
    return SCRATCH.get();
  }

  /** The sum of the vector that lies at index {@code vector} of the scratch. */
  static float sum(float[] scratch, int vector) {
    float sum = 0;
    for (int lane = vector * LANES; lane < (vector + 1) * LANES; lane++) {
      sum += scratch[lane];
    }
    return sum;
  }

  /** The sums of four vectors that lie one after another, side by side to hide their latency. */
  static void sumFour(float[] scratch, int firstVector, float[] out, int at) {
    int from = firstVector * LANES;
    float sum0 = 0;
    float sum1 = 0;
    float sum2 = 0;
    float sum3 = 0;
    for (int lane = from; lane < from + LANES; lane++) {
      sum0 += scratch[lane];
      sum1 += scratch[lane + LANES];
      sum2 += scratch[lane + 2 * LANES];
      sum3 += scratch[lane + 3 * LANES];
    }
    out[at] = sum0;
    out[at + 1] = sum1;
    out[at + 2] = sum2;
    out[at + 3] = sum3;
  }
}
