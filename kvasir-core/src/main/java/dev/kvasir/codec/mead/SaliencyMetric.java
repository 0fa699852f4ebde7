package dev.kvasir.codec.mead;

/** What the class of a token goes by, as typed {@code classes=}. */
public enum SaliencyMetric {
  /** By how large it is and how much attention it has received. */
  ATTENTION,

  /** By how large it is alone. */
  ENERGY
}
