package dev.kvasir.codec;

/** How precisely attention looks sums up on packed bits. */
public enum Lookups {
  /** Two bytes a subset sum: right to a thousandth of a score's spread. */
  EXACT,

  /** One byte a subset sum, for about half the work. */
  FAST
}
