package dev.kvasir.cache;

import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;

/** Floating-point numbers and nothing packed. */
record DenseMethod(Precision precision) implements CacheMethod {
  static DenseMethod of(SpecText spec, Precision precision) {
    spec.requireNothingElse();
    return new DenseMethod(precision);
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return new CacheSettings(precision, 0, 0, Optional.empty(), Lookups.EXACT);
  }
}
