package dev.kvasir.codec.kivi;

import dev.kvasir.codec.BitWidthMethod;

/** KIVI: uniform codes, keys by channel and values by token. */
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
