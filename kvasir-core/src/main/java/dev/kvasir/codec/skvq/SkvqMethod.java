package dev.kvasir.codec.skvq;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/** SKVQ: codes by token, of channels that reach as far, with ranges that are cut off. */
public final class SkvqMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("skvq");
  }

  @Override
  public String typed() {
    return "skvq:BITS";
  }

  @Override
  public List<String> help() {
    return List.of("skvq:1|2|3|4|8: k, v, group (32|64|128),", "  reorder, clip (on|off)");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return SkvqPlan.of(spec);
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
