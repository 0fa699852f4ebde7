package dev.kvasir.codec.mikv;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.ranked.KeyFactors;
import dev.kvasir.codec.ranked.KeyScales;
import dev.kvasir.codec.ranked.Rank;
import dev.kvasir.codec.ranked.RankedPlan;
import dev.kvasir.codec.ranked.RankedSettings;
import java.util.List;

/** MiKV: heavy hitters keep many bits, and tokens that others evict keep a few. */
public final class MikvMethod implements Method {
  private static final int DEFAULT_HIGH = 8;
  private static final double DEFAULT_SHARE = 0.25;

  @Override
  public List<String> names() {
    return List.of("mikv");
  }

  @Override
  public String typed() {
    return "mikv:BITS";
  }

  @Override
  public List<String> help() {
    return List.of(
        "mikv:1|2|3|4: high (bits of important tokens),",
        "  share (of them), queries (that rank tokens)");
  }

  @Override
  public CachePlan plan(SpecText spec) {
    spec.requireKeys("high", "share", "queries", "window", "sinks", "lookup");
    return RankedPlan.of(
        spec,
        new RankedSettings(
            spec.oneOf("high", DEFAULT_HIGH, RankedPlan.HIGH_BITS),
            spec.bits(RankedPlan.LOW_BITS),
            RankedPlan.salient(spec, DEFAULT_SHARE),
            RankedPlan.queries(spec),
            Rank.SUM,
            KeyScales.TOKEN,
            KeyFactors.BALANCE,
            false,
            spec.choice("lookup", Lookups.EXACT)));
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
