package dev.kvasir.codec.dense;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;

/** Floating-point numbers and nothing packed. */
record DensePlan(Precision precision) implements CachePlan {
  static DensePlan of(SpecText spec) {
    spec.requireNothingElse();
    return new DensePlan(
        switch (spec.name()) {
          case "bf16" -> Precision.BF16;
          case "fp32" -> Precision.F32;
          default -> Precision.F16;
        });
  }

  @Override
  public boolean takesValuesInKeys() {
    return true;
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return new CacheSettings(precision, 0, 0, Optional.empty());
  }
}
