package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/** PatternKV: patterns, and uniform codes of what differs from them. */
public final class PatternkvMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("patternkv");
  }

  @Override
  public String typed() {
    return "patternkv:BITS";
  }

  @Override
  public List<String> help() {
    return List.of("patternkv:1|2|3|4|8: k, v, group, patterns,", "  alpha, rope (rotate|static)");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return PatternkvPlan.of(spec);
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
