package dev.kvasir.codec.basis;

/**
 * Cuts the ends off the ranges of groups before they are coded: a few numbers lose what is beyond,
 * and the steps of all become smaller.
 *
 * @param ratio of a group's range that is left, around its middle; 1 leaves numbers as they are
 */
public record Clipping(float ratio) {
  /**
   * @param x (rows, channels) from {@code at} on
   * @param group channels that share a range; the last group of a row may have fewer
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
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (int i = at; i < at + count; i++) {
      least = Math.min(least, x[i]);
      most = Math.max(most, x[i]);
    }
    float middle = (least + most) / 2;
    float reach = ratio * (most - least) / 2;
    for (int i = at; i < at + count; i++) {
      x[i] = Math.clamp(x[i], middle - reach, middle + reach);
    }
  }
}
