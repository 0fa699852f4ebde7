package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.BitWidthMethod;

/** PatternKV: patterns, with uniform codes for residuals. */
public final class PatternkvMethod extends BitWidthMethod {
  public PatternkvMethod() {
    super(
        "patternkv",
        PatternkvConfig::of,
        "patternkv:1|2|3|4|8: k, v, group, patterns,",
        "  alpha, rope (rotate|static)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }
}
