package dev.kvasir.codec.ott;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import java.util.List;

/** OTT: codes of KIVI, beside a few tokens whose keys are smaller than all others. */
public final class OttMethod implements Method {
  @Override
  public List<String> names() {
    return List.of("ott");
  }

  @Override
  public String typed() {
    return "ott:BITS";
  }

  @Override
  public List<String> help() {
    return List.of(
        "ott:1|2|3|4|8: outliers (1 to 16 of 128", "  tokens, kept as they are), k, v, group");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    return OttPlan.of(spec);
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
