package dev.kvasir.page;

/**
 * What a stored scale spans.
 *
 * <p>A page that is requantized to fewer bits keeps its ranges: the step from 2b to b bits grows by
 * 2^b + 1. As a half, that product would lose precision with every requantization, and its rounding
 * would shift the upper end of a range by many steps of a wide code. {@link #THIRD} therefore
 * stores a third of the range, the step of two bits, which never changes. The step of any width is
 * derived from it.
 */
public enum ScaleSpan {
  /** The distance of two codes. */
  STEP,

  /** A third of the distance from the lowest to the highest code, whatever the width. */
  THIRD;

  /** Returns the factor from a stored scale to the distance of two codes. */
  public float unit(int bits) {
    return this == STEP ? 1 : 3f / ((1 << bits) - 1);
  }

  /** Returns the number by which a group's range is divided to get its scale. */
  int parts(int bits) {
    return this == STEP ? (1 << bits) - 1 : 3;
  }
}
