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
    return neighbours(scratch, vector * LANES, LANES);
  }

  /** The sums of four vectors that lie one after another. */
  static void sumFour(float[] scratch, int firstVector, float[] out, int at) {
    out[at] = sum(scratch, firstVector);
    out[at + 1] = sum(scratch, firstVector + 1);
    out[at + 2] = sum(scratch, firstVector + 2);
    out[at + 3] = sum(scratch, firstVector + 3);
  }

  /** Neighbours are added until one is left. */
  private static float neighbours(float[] x, int at, int count) {
    if (count == 4) {
      return (x[at] + x[at + 1]) + (x[at + 2] + x[at + 3]);
    }
    return count == 8 ? eight(x, at) : sixteen(x, at);
  }

  /** The sum of sixteen parts, whatever the width of vectors. */
  static float sixteen(float[] x, int at) {
    return eight(x, at) + eight(x, at + 8);
  }

  private static float eight(float[] x, int at) {
    float lower = (x[at] + x[at + 1]) + (x[at + 2] + x[at + 3]);
    float upper = (x[at + 4] + x[at + 5]) + (x[at + 6] + x[at + 7]);
    return lower + upper;
  }
}
