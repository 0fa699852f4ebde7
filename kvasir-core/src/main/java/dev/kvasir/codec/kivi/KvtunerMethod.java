package dev.kvasir.codec.kivi;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/** KVTuner: codes of KIVI with bits of keys and of values that each layer has for itself. */
public final class KvtunerMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("kvtuner");
  }

  @Override
  public String typed() {
    return "kvtuner:BITS";
  }

  @Override
  public List<String> help() {
    return List.of(
        "kvtuner:2|3|4|5|6|8 (in the mean):", "  group (32|64|128), widths (profile|same)");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return KvtunerPlan.of(spec);
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
