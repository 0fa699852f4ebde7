package dev.kvasir.codec.mixkvq;

/** Which queries say what is looked at. */
public enum QuerySpan {
  /** Those since the last block was sealed. */
  WINDOW,

  /** All that the sequence has seen. */
  SEQUENCE
}
