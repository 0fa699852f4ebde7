package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.QuantizationMethod;
import dev.kvasir.codec.SpecText;
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
        "  the profile), group, residual (128|256|384|",
        "  512), salience (query|error)");
  }

  @Override
  public QuantizationConfig parse(SpecText spec) {
    return MixkvqConfig.of(spec);
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(new Calibration(Calibration.Command.TUNE, List.of()));
  }
}
