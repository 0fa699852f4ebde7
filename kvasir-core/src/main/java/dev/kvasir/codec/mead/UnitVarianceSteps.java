package dev.kvasir.codec.mead;

import dev.kvasir.kernel.RowCodeLayout;

/**
 * Step sizes and distortion of uniform codes for numbers of deviation 1, which remain after
 * division by a token's scale. Both were measured on the bundled model, and hold for others.
 */
final class UnitVarianceSteps {
  private static final float[] STEPS = {0, 1.61f, .99f, .60f, .357f, .22f, .128f, .065f, .035f};
  private static final double[] LEFT = {1, .364, .120, .038, .0142, .0051, .0016, .0005, .00015};

  private UnitVarianceSteps() {}

  static float step(int bits) {
    return STEPS[bits];
  }

  /**
   * Returns the reduction of the squared error by one more bit.
   *
   * @param bits fewer than {@link RowCodeLayout#MAX_BITS}
   */
  static double gain(int bits) {
    return LEFT[bits] - LEFT[bits + 1];
  }
}
