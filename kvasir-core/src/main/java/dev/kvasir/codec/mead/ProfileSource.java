package dev.kvasir.codec.mead;

/** Where a cache gets its tables and bit widths from, as typed in {@code profile=}. */
enum ProfileSource {
  /** A profile of the model, which calibration made. */
  MODEL,

  /** The first page of each sequence. */
  NONE
}
