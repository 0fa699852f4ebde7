package dev.kvasir.codec;

/** How precisely weights are rounded for sums on packed bits. */
public enum OperandPrecision {
  /** Two digits a weight: right to a ten-thousandth of a score's spread. */
  EXACT,

  /** One digit a weight, for little more than half the work. */
  FAST
}
