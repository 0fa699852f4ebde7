package dev.kvasir.family;

/** Numbers of four bits with a power of two for 32 of them. */
final class Mxfp4 {
  static final int BLOCK = 32;
  private static final float[] SIZES = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};

  private Mxfp4() {}

  /**
   * The nearest numbers, where those within three standard deviations of 1 fill the range of four
   * bits; every other block is half as large.
   *
   * @param exponent the power of two of the larger blocks
   */
  static Values round(Values values, int exponent) {
    float[] rounded = new float[values.floats().length];
    for (int i = 0; i < rounded.length; i++) {
      int power = exponent - i / BLOCK % 2;
      rounded[i] = Math.scalb(nearest(3 * values.floats()[i]), power);
    }
    return new Values(rounded, values.shape());
  }

  private static float nearest(float value) {
    float best = 0;
    for (float size : SIZES) {
      best = Math.abs(size - Math.abs(value)) < Math.abs(best - Math.abs(value)) ? size : best;
    }
    return Math.copySign(best, value);
  }
}
