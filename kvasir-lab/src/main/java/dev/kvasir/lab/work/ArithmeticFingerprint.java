package dev.kvasir.lab.work;

import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * Detects machines that add floating-point numbers in a different order. Long sums are kept in as
 * many partial sums as a vector has lanes, so results are bit-identical only across equal vector
 * widths.
 */
public final class ArithmeticFingerprint {
  private static final int ROWS = 8;
  private static final int DEPTH = 256;

  private ArithmeticFingerprint() {}

  /**
   * Returns the fingerprint of this process; processes whose sums agree have equal fingerprints.
   */
  public static int compute() {
    return compute(KernelChoice.ofThisProcess().kernels());
  }

  static int compute(Kernels kernels) {
    float[] thirds = new float[ROWS * DEPTH]; // (ROWS, DEPTH)
    for (int i = 0; i < thirds.length; i++) {
      thirds[i] = 1f / (3 + i);
    }
    float[] products = new float[ROWS * ROWS];
    kernels
        .floats()
        .products(
            RowBlock.of(thirds, ROWS, DEPTH),
            RowBlock.of(thirds, ROWS, DEPTH),
            RowBlock.of(products, ROWS, ROWS));
    return Arrays.hashCode(products);
  }
}
