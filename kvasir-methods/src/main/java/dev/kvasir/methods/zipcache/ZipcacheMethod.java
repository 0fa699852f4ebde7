package dev.kvasir.methods.zipcache;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.methods.ranked.AttentionAggregation;
import dev.kvasir.methods.ranked.KeyChannelFactors;
import dev.kvasir.methods.ranked.KeyScaleGranularity;
import dev.kvasir.methods.ranked.RankedConfig;
import dev.kvasir.methods.ranked.RankedSettings;
import java.util.EnumSet;
import java.util.List;

/** The ZipCache method: more bits for salient tokens, and values normalized by channel. */
public final class ZipcacheMethod extends BitWidthMethod {
  private static final int DEFAULT_HIGH = 4;

  /** As in the published settings. */
  private static final double DEFAULT_SHARE = 0.6;

  public ZipcacheMethod() {
    super(
        "zipcache",
        MethodFamily.MIXED_WIDTHS,
        ZipcacheMethod::config,
        "zipcache:1|2|3|4: high (bits of salient ones),",
        "  share (of them), keys (channel|token),",
        "  queries (that rank tokens)");
  }

  private static QuantizationConfig config(SpecText spec) {
    spec.requireKeys("high", "share", "keys", "queries", "window", "sinks", OperandPrecision.KEY);
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
            OperandPrecision.of(spec)));
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        EnumSet.of(Trait.ALTERS_CONSTANTS),
        "zipcache:2",
        "zipcache:1,keys=token,share=0.9",
        "zipcache:2,window=40,sinks=5");
  }
}
