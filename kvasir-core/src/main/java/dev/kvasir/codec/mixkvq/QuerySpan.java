package dev.kvasir.codec.mixkvq;

/** The queries whose magnitudes count. */
public enum QuerySpan {
  /** Queries since the last quantized block. */
  WINDOW,

  /** All queries of the sequence. */
  SEQUENCE
}
