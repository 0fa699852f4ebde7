package dev.kvasir.codec.rotatekv;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/** RotateKV: keys of several heads rotated together, channels of like size coded together. */
public final class RotatekvMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("rotatekv");
  }

  @Override
  public String typed() {
    return "rotatekv:BITS";
  }

  @Override
  public List<String> help() {
    return List.of(
        "rotatekv:1|2|3|4|8: k, v (bits), heads,", "  group (32|64|128), clip, order (on|off)");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return RotatekvPlan.of(spec);
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
