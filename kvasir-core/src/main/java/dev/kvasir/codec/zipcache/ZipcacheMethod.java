package dev.kvasir.codec.zipcache;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.ranked.AttentionAggregation;
import dev.kvasir.codec.ranked.KeyChannelFactors;
import dev.kvasir.codec.ranked.KeyScaleGranularity;
import dev.kvasir.codec.ranked.RankedConfig;
import dev.kvasir.codec.ranked.RankedSettings;

/** The ZipCache method: more bits for salient tokens, and values normalized by channel. */
public final class ZipcacheMethod extends BitWidthMethod {
  private static final int DEFAULT_HIGH = 4;

  /** As in the published settings. */
  private static final double DEFAULT_SHARE = 0.6;

  public ZipcacheMethod() {
    super(
        "zipcache",
        ZipcacheMethod::config,
        "zipcache:1|2|3|4: high (bits of salient ones),",
        "  share (of them), keys (channel|token),",
        "  queries (that rank tokens)");
  }

  private static QuantizationConfig config(SpecText spec) {
    spec.requireKeys("high", "share", "keys", "queries", "window", "sinks", "lookup");
    return RankedConfig.of(
        spec,
        new RankedSettings(
            spec.oneOf("high", DEFAULT_HIGH, RankedConfig.HIGH_BITS),
            spec.bits(RankedConfig.LOW_BITS),
            RankedConfig.salient(spec, DEFAULT_SHARE),
            RankedConfig.queries(spec),
            AttentionAggregation.MEAN,
            spec.choice("keys", KeyScaleGranularity.CHANNEL),
            KeyChannelFactors.MAX_MAGNITUDE,
            true,
            spec.choice("lookup", OperandPrecision.EXACT)));
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }
}
