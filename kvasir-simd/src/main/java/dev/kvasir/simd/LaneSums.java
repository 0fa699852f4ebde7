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

  /** The sums of four vectors that lie one after another, without a loop where lanes are four. */
  static void sumFour(float[] scratch, int firstVector, float[] out, int at) {
    if (LANES == 4) {
      int from = 4 * firstVector;
      out[at] = 0 + scratch[from] + scratch[from + 1] + scratch[from + 2] + scratch[from + 3];
      out[at + 1] =
          0 + scratch[from + 4] + scratch[from + 5] + scratch[from + 6] + scratch[from + 7];
      out[at + 2] =
          0 + scratch[from + 8] + scratch[from + 9] + scratch[from + 10] + scratch[from + 11];
      out[at + 3] =
          0 + scratch[from + 12] + scratch[from + 13] + scratch[from + 14] + scratch[from + 15];
    } else {
      for (int i = 0; i < 4; i++) {
        out[at + i] = sum(scratch, firstVector + i);
      }
    }
  }
}
