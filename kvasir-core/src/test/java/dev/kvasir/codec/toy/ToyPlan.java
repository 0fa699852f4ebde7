package dev.kvasir.codec.toy;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;

/** What a spec stands for. */
record ToyPlan(int window, int sinks) implements CachePlan {
  static ToyPlan of(SpecText spec) {
    spec.requireKeys("window", "sinks");
    return new ToyPlan(spec.tokens("window", 128), spec.tokens("sinks", 0));
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    ToyCodec codec = new ToyCodec(shape.kvHeads(), shape.keyDim(), shape.valueDim());
    return new CacheSettings(Precision.F16, sinks, window, Optional.of(codec));
  }
}
