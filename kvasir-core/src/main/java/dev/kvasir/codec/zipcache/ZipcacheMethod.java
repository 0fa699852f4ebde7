package dev.kvasir.codec.zipcache;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.MethodOfBits;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.ranked.KeyFactors;
import dev.kvasir.codec.ranked.KeyScales;
import dev.kvasir.codec.ranked.Rank;
import dev.kvasir.codec.ranked.RankedPlan;
import dev.kvasir.codec.ranked.RankedSettings;

/** ZipCache: more bits for tokens that are looked at, and values whose channels are evened out. */
public final class ZipcacheMethod extends MethodOfBits {
  private static final int DEFAULT_HIGH = 4;

  /** Of the published settings. */
  private static final double DEFAULT_SHARE = 0.6;

  public ZipcacheMethod() {
    super(
        "zipcache",
        ZipcacheMethod::planned,
        "zipcache:1|2|3|4: high (bits of salient ones),",
        "  share (of them), keys (channel|token),",
        "  queries (that rank tokens)");
  }

  private static CachePlan planned(SpecText spec) {
    spec.requireKeys("high", "share", "keys", "queries", "window", "sinks", "lookup");
    return RankedPlan.of(
        spec,
        new RankedSettings(
            spec.oneOf("high", DEFAULT_HIGH, RankedPlan.HIGH_BITS),
            spec.bits(RankedPlan.LOW_BITS),
            RankedPlan.salient(spec, DEFAULT_SHARE),
            RankedPlan.queries(spec),
            Rank.MEAN,
            spec.choice("keys", KeyScales.CHANNEL),
            KeyFactors.REACH,
            true,
            spec.choice("lookup", Lookups.EXACT)));
  }

  @Override
  public boolean looksUp() {
    return true;
  }
}
