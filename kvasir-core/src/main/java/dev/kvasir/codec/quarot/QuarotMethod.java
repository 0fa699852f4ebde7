package dev.kvasir.codec.quarot;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/** QuaRot, its cache alone: heads rotated by a Hadamard transform, then uniform codes by token. */
public final class QuarotMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("quarot");
  }

  @Override
  public String typed() {
    return "quarot:BITS";
  }

  @Override
  public List<String> help() {
    return List.of("quarot:1|2|3|4|8: k, v (bits),", "  group (32|64|128), clip (0 to 1)");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return QuarotPlan.of(spec);
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
