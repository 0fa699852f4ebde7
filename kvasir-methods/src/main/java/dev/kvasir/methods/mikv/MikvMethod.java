package dev.kvasir.methods.mikv;

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

/**
 * The MiKV method: heavy hitters keep many bits, and tokens that other methods evict keep a few.
 */
public final class MikvMethod extends BitWidthMethod {
  private static final int DEFAULT_HIGH = 8;
  private static final double DEFAULT_SHARE = 0.25;

  public MikvMethod() {
    super(
        "mikv",
        MethodFamily.MIXED_WIDTHS,
        MikvMethod::config,
        "mikv:1|2|3|4: high (bits of important tokens),",
        "  share (of them), queries (that rank tokens)");
  }

  private static QuantizationConfig config(SpecText spec) {
    spec.requireKeys("high", "share", "queries", "window", "sinks", OperandPrecision.KEY);
    return RankedConfig.of(
        spec,
        new RankedSettings(
            spec.oneOf("high", DEFAULT_HIGH, RankedConfig.HIGH_BITS),
            spec.bits(RankedConfig.LOW_BITS),
            RankedConfig.salient(spec, DEFAULT_SHARE),
            RankedConfig.queries(spec),
            AttentionAggregation.SUM,
            KeyScaleGranularity.TOKEN,
            KeyChannelFactors.BALANCED,
            false,
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
        "mikv:2",
        "mikv:2,high=4",
        "mikv:2,share=0.1,window=0",
        "mikv:2,share=0,sinks=5");
  }
}
