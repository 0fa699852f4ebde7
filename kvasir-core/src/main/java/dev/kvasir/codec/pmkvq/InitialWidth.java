package dev.kvasir.codec.pmkvq;

/** The bit width at which a page is first quantized. */
public enum InitialWidth {
  /** The current level of the layer. */
  NARROW,

  /** 16 bits, followed by a shift to the current level. Every code is then a shifted one. */
  WIDE
}
