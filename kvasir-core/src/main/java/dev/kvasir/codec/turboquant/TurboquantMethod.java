package dev.kvasir.codec.turboquant;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/** TurboQuant: random rotations, and the levels that suit coordinates of random directions. */
public final class TurboquantMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("turboquant");
  }

  @Override
  public String typed() {
    return "turboquant:BITS";
  }

  @Override
  public List<String> help() {
    return List.of("turboquant:1|2|3|4: k, v (bits), seed");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return TurboquantPlan.of(spec);
  }
}
