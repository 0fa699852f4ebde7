package dev.kvasir.codec.kvarn;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/** KVarN: rotated heads, whose tokens and channels are brought to one variance before coding. */
public final class KvarnMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("kvarn");
  }

  @Override
  public String typed() {
    return "kvarn:BITS";
  }

  @Override
  public List<String> help() {
    return List.of("kvarn:1|2|3|4|8: k, v (bits),", "  group (32|64|128), rounds");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return KvarnPlan.of(spec);
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
