package dev.kvasir.codec.dense;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;

/** The configuration of a cache of floating-point numbers, without quantization. */
record DenseConfig(Precision precision) implements QuantizationConfig {
  static DenseConfig of(SpecText spec) {
    spec.requireNameOnly();
    return new DenseConfig(
        switch (spec.name()) {
          case "bf16" -> Precision.BF16;
          case "fp32" -> Precision.F32;
          default -> Precision.F16;
        });
  }

  @Override
  public boolean supportsValuesInKeys() {
    return true;
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return new CacheConfig(precision, 0, 0, Optional.empty());
  }
}
