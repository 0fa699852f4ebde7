package dev.kvasir.codec.kvquant;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/** KVQuant: levels where numbers are, keys before rotation, and a few numbers kept apart. */
public final class KvquantMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("kvquant");
  }

  @Override
  public String typed() {
    return "kvquant:BITS";
  }

  @Override
  public List<String> help() {
    return List.of(
        "kvquant:2|3|4: k, v (bits), outliers (0 to 8",
        "  of each vector), levels (fitted|even),",
        "  rope (before|after)");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return KvquantPlan.of(spec);
  }
}
