package dev.kvasir.lab.codebook.encoder;

/** Estimates the work of training an encoder. */
public final class EncoderWork {
  /** Forward, and backward for inputs and for weights. */
  private static final double PASSES = 3;

  private EncoderWork() {}

  /** Returns the floating-point operations for one layer. */
  public static double operations(EncoderSettings settings, int width) {
    double multiplications = multiplications(settings, width);
    return 2 * PASSES * multiplications * settings.batch() * settings.steps();
  }

  private static double multiplications(EncoderSettings settings, int width) {
    double hidden = settings.hidden();
    return hidden * width + 2.0 * settings.bits() * hidden + (double) settings.bits() * width;
  }

  /**
   * Returns the bytes for training one layer: values, parameters with their gradient and two
   * moments, and activations with their gradients.
   */
  public static long heapBytes(EncoderSettings settings, int width, int tokens) {
    long activations =
        4L * width + 4L * settings.hidden() + 5L * settings.bits() + 2L * settings.hidden();
    return Float.BYTES
        * (2L * width * tokens
            + 5L * (long) multiplications(settings, width)
            + 2L * settings.batch() * activations);
  }
}
