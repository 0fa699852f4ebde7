package dev.kvasir.codec.skvq;

import dev.kvasir.codec.BitWidthMethod;

/** The SKVQ method: reorders channels by magnitude, clips ranges, and quantizes per token. */
public final class SkvqMethod extends BitWidthMethod {
  public SkvqMethod() {
    super(
        "skvq",
        SkvqConfig::of,
        "skvq:1|2|3|4|8: k, v, group (32|64|128),",
        "  reorder, clip (on|off)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }
}
