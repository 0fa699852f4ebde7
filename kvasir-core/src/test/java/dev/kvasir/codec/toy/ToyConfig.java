package dev.kvasir.codec.toy;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;

/** The configuration of the toy method. */
record ToyConfig(int window, int sinks) implements QuantizationConfig {
  static ToyConfig of(SpecText spec) {
    spec.requireKeys("window", "sinks");
    return new ToyConfig(spec.tokens("window", 128), spec.tokens("sinks", 0));
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    ToyCodec codec = new ToyCodec(shape.kvHeads(), shape.keyDim(), shape.valueDim());
    return new CacheConfig(Precision.F16, sinks, window, Optional.of(codec));
  }
}
