package dev.kvasir.codec.mead;

import dev.kvasir.kernel.RowCodeLayout;

/**
 * Uniform codes of numbers with deviation 1, as they are left when a token's own scale is taken
 * out: how far their steps are apart, and what they leave of the squares. Both were measured on the
 * bundled model, and hold for others.
 */
final class UnitVarianceSteps {
  private static final float[] STEPS = {0, 1.61f, .99f, .60f, .357f, .22f, .128f, .065f, .035f};
  private static final double[] LEFT = {1, .364, .120, .038, .0142, .0051, .0016, .0005, .00015};

  private UnitVarianceSteps() {}

  static float step(int bits) {
    return STEPS[bits];
  }

  /**
   * What one bit more takes away.
   *
   * @param bits fewer than {@link RowCodeLayout#MOST_BITS}
   */
  static double gain(int bits) {
    return LEFT[bits] - LEFT[bits + 1];
  }
}
