package dev.kvasir.codec.pmkvq;

/** The width that a page is coded to when it is packed. */
public enum InitialWidth {
  /** The one that there is room for. */
  NARROW,

  /** 16 bits, and then shifted to the one that there is room for: every code has been shifted. */
  WIDE
}
