package dev.kvasir.codec.mikv;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.MethodOfBits;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.ranked.KeyFactors;
import dev.kvasir.codec.ranked.KeyScales;
import dev.kvasir.codec.ranked.Rank;
import dev.kvasir.codec.ranked.RankedPlan;
import dev.kvasir.codec.ranked.RankedSettings;

/** MiKV: heavy hitters keep many bits, and tokens that others evict keep a few. */
public final class MikvMethod extends MethodOfBits {
  private static final int DEFAULT_HIGH = 8;
  private static final double DEFAULT_SHARE = 0.25;

  public MikvMethod() {
    super(
        "mikv",
        MikvMethod::planned,
        "mikv:1|2|3|4: high (bits of important tokens),",
        "  share (of them), queries (that rank tokens)");
  }

  private static CachePlan planned(SpecText spec) {
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
