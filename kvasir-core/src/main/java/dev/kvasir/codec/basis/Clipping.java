package dev.kvasir.codec.basis;

/**
 * Clips the range of each group before quantization. A few outliers lose accuracy, and all other
 * numbers get a smaller step size.
 *
 * @param ratio the part of a group's range that remains, around its center; 1 disables clipping
 */
public record Clipping(float ratio) {
  /**
   * Clips vectors in place.
   *
   * @param x (rows, channels) from {@code at} on
   * @param group channels that share a range; the last group of a row may be smaller
   */
  public void clip(float[] x, int at, int rows, int channels, int group) {
    if (ratio == 1) {
      return;
    }
    for (int row = 0; row < rows; row++) {
      int first = at + row * channels;
      for (int from = 0; from < channels; from += group) {
        clip(x, first + from, Math.min(group, channels - from));
      }
    }
  }

  private void clip(float[] x, int at, int count) {
    float min = Float.POSITIVE_INFINITY;
    float max = Float.NEGATIVE_INFINITY;
    for (int i = at; i < at + count; i++) {
      min = Math.min(min, x[i]);
      max = Math.max(max, x[i]);
    }
    float center = (min + max) / 2;
    float halfRange = ratio * (max - min) / 2;
    for (int i = at; i < at + count; i++) {
      x[i] = Math.clamp(x[i], center - halfRange, center + halfRange);
    }
  }
}
