package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.MethodOfBits;

/** PatternKV: patterns, and uniform codes of what differs from them. */
public final class PatternkvMethod extends MethodOfBits {
  public PatternkvMethod() {
    super(
        "patternkv",
        PatternkvPlan::of,
        "patternkv:1|2|3|4|8: k, v, group, patterns,",
        "  alpha, rope (rotate|static)");
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
