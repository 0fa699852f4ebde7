package dev.kvasir.cli;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.Calibration;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.spi.QuantizationMethod;
import java.util.List;
import java.util.Optional;

/**
 * A method outside of Kvasir's modules, registered by a service file in the test resources. It
 * stores 32-bit floats.
 */
public final class ForeignMethod implements QuantizationMethod {
  @Override
  public List<String> names() {
    return List.of("foreign");
  }

  @Override
  public String syntax() {
    return "foreign";
  }

  @Override
  public List<String> help() {
    return List.of("foreign: depth (1 to 9), up to 100% of it as", "  it was");
  }

  @Override
  public QuantizationConfig parse(SpecText spec) {
    spec.requireKeys("depth");
    spec.between("depth", 1, 1, 9);
    return shape -> new CacheConfig(Precision.F32, 0, 0, Optional.empty());
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of("foreign", "foreign,depth=9");
  }

  @Override
  public Optional<Calibration> calibration() {
    return Optional.of(new Calibration(Calibration.Command.CALIBRATE, List.of()));
  }
}
