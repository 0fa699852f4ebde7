package dev.kvasir.codec.ott;

import dev.kvasir.codec.BitWidthMethod;

/** The OTT method: KIVI codes, except for the few tokens with the smallest keys. */
public final class OttMethod extends BitWidthMethod {
  public OttMethod() {
    super(
        "ott",
        OttConfig::of,
        "ott:1|2|3|4|8: outliers (1 to 16 of 128",
        "  tokens, kept as they are), k, v, group");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }
}
