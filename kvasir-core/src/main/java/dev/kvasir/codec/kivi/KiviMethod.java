package dev.kvasir.codec.kivi;

import dev.kvasir.codec.BitWidthMethod;

/** KIVI: uniform codes, with per-channel keys and per-token values. */
public final class KiviMethod extends BitWidthMethod {
  public KiviMethod() {
    super(
        "kivi",
        KiviConfig::of,
        "kivi:1|2|3|4|8: k, v (bits), group (32|64|128),",
        "  widths (same|profile)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }
}
