package dev.kvasir.page;

/**
 * How far a stored scale reaches.
 *
 * <p>A page that is made narrower keeps its ranges: the step from 2b to b bits grows by 2^b + 1. As
 * a half that product would lose digits at every step, and its rounding would shift the upper end
 * of a range by many steps of a wide code. So what is stored is a third of the range, the step of
 * two bits, which never changes, and the step of any width is derived from it.
 */
public enum ScaleSpan {
  /** From a code to the next. */
  STEP,

  /** A third of the way from the lowest code to the highest, whatever the width. */
  THIRD;

  /** What a stored scale is multiplied by to be the distance of two codes. */
  public float unit(int bits) {
    return this == STEP ? 1 : 3f / ((1 << bits) - 1);
  }

  /** The share of a group's range that is stored as its scale. */
  int parts(int bits) {
    return this == STEP ? (1 << bits) - 1 : 3;
  }
}
