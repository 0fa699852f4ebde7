package dev.kvasir.cuda;

import dev.kvasir.kernel.Kernels;
import java.util.SplittableRandom;

/**
 * In how many parts the host adds up a long product, which is part of what its search for codes
 * finds: a device that is to find the same adds in the same order.
 */
final class HostSums {
  private static final int[] KNOWN = {4, 8, 16};
  private static final int LENGTH = 64;
  private static final int TRIALS = 32;

  private HostSums() {}

  /**
   * @throws DeviceRefusal where it adds in an order that a device does not know
   */
  static int lanes(Kernels kernels) {
    for (int lanes : KNOWN) {
      if (adds(kernels, lanes)) {
        return lanes;
      }
    }
    throw new DeviceRefusal("products of this process are added in an order that no device knows");
  }

  private static boolean adds(Kernels kernels, int lanes) {
    SplittableRandom random = new SplittableRandom(5);
    float[] a = new float[LENGTH];
    float[] b = new float[LENGTH];
    float[] product = new float[1];
    for (int trial = 0; trial < TRIALS; trial++) {
      for (int i = 0; i < LENGTH; i++) {
        a[i] = (float) random.nextGaussian();
        b[i] = (float) random.nextGaussian();
      }
      kernels.floats().products(a, 0, LENGTH, 1, b, 0, LENGTH, 1, LENGTH, product, 0, 1);
      if (product[0] != product(a, b, lanes)) {
        return false;
      }
    }
    return true;
  }

  /** As encode.cuh adds. */
  static float product(float[] a, float[] b, int lanes) {
    float[] parts = new float[lanes];
    for (int i = 0; i < a.length; i++) {
      parts[i % lanes] = Math.fma(a[i], b[i], parts[i % lanes]);
    }
    for (int count = lanes; count > 1; count /= 2) {
      for (int i = 0; i < count / 2; i++) {
        parts[i] = parts[2 * i] + parts[2 * i + 1];
      }
    }
    return parts[0];
  }
}
