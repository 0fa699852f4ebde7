package dev.kvasir.simd;

import jdk.incubator.vector.FloatVector;

/**
 * Sums across the lanes of vectors in the order that {@link dev.kvasir.kernel.ScalarKernels}
 * defines. The API's own reduction leaves the order open: compiled code adds in another order than
 * interpreted code, so the same text would not always come from the same seed.
 */
final class LaneSums {
  /** Vectors that a kernel may leave for summing at a time. */
  static final int MOST_VECTORS = 12;

  private static final int LANES = FloatVector.SPECIES_PREFERRED.length();

  private static final ThreadLocal<float[]> SCRATCH =
      ThreadLocal.withInitial(() -> new float[MOST_VECTORS * LANES]);

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
}
