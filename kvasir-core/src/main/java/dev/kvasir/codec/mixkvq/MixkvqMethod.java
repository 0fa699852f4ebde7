package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodFamily;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.spi.QuantizationMethod;
import java.util.List;
import java.util.Optional;

/** MixKVQ: mixed-precision key channels, by quantization error and query magnitude. */
public final class MixkvqMethod implements QuantizationMethod {
  @Override
  public List<String> names() {
    return List.of("mixkvq");
  }

  @Override
  public String syntax() {
    return "mixkvq";
  }

  @Override
  public List<String> help() {
    return List.of(
        "mixkvq: high, mid (thresholds; else those of",
        "  the profile), group,",
        "  residual (32|64|96|128|256|384|512),",
        "  tiers (residual|prompt),",
        "  salience (query|error)");
  }

  @Override
  public QuantizationConfig parse(SpecText spec) {
    return MixkvqConfig.of(spec);
  }

  @Override
  public MethodFamily family() {
    return MethodFamily.MIXED_WIDTHS;
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(new Calibration(Calibration.Command.TUNE, List.of()));
  }

  /** One tier map for the prompt, a buffer of up to 128 tokens, and 32 sinks. */
  @Override
  public Optional<String> paperSettings() {
    return Optional.of("group=32,residual=128,tiers=prompt,sinks=32,window=0,prefill=exact");
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        "mixkvq,high=2.8,mid=2",
        "mixkvq,high=3.2,mid=2.6,queries=sequence,sinks=0,window=0",
        "mixkvq,high=2.6,mid=3,group=64,window=40,operands=8",
        "mixkvq,high=2.8,mid=2,residual=96,tiers=prompt,sinks=5",
        "mixkvq,high=2.8,mid=2,residual=256,sinks=5",
        "mixkvq,high=2.8,mid=2,residual=32,window=0",
        "mixkvq,high=1.9,mid=1.7,salience=error,residual=64,group=64,window=40",
        "mixkvq,high=1.9,mid=1.7,salience=error,group=128",
        "mixkvq,high=1.9,mid=1.7,salience=error,residual=384,sinks=130",
        "mixkvq,high=1000,mid=1000",
        "mixkvq,high=0.0001,mid=0.0001",
        "mixkvq,high=1.9,mid=1.7,salience=error,residual=256",
        "mixkvq,high=1.9,mid=1.7,salience=error");
  }
}
