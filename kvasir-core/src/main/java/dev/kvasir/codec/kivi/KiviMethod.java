package dev.kvasir.codec.kivi;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/** KIVI: uniform codes, keys by channel and values by token. */
public final class KiviMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("kivi");
  }

  @Override
  public String typed() {
    return "kivi:BITS";
  }

  @Override
  public List<String> help() {
    return List.of("kivi:1|2|3|4|8: k, v (bits), group (32|64|128),", "  widths (same|profile)");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return KiviPlan.of(spec);
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
