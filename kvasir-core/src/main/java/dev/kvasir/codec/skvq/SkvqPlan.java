package dev.kvasir.codec.skvq;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformKeys;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;

/**
 * Groups of channels of a token.
 *
 * @param reorders whether channels that reach as far share a group
 * @param clips whether ranges are cut off where that leaves less error
 */
record SkvqPlan(UniformKeys keys, int sinks, boolean reorders, boolean clips) implements CachePlan {
  /** The paper's. */
  private static final int DEFAULT_SINKS = 5;

  static SkvqPlan of(SpecText spec) {
    UniformKeys keys = UniformKeys.of(spec, "reorder", "clip");
    return new SkvqPlan(
        keys, spec.tokens("sinks", DEFAULT_SINKS), spec.isOn("reorder"), spec.isOn("clip"));
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    UniformKeys.requirePackable(keys.method(), shape);
    SkvqShape head =
        new SkvqShape(
            shape.keyDim(),
            shape.valueDim(),
            keys.keyBits(),
            keys.valueBits(),
            keys.group(),
            reorders);
    SkvqCodec codec = new SkvqCodec(shape.kvHeads(), head, clips, keys.lookups());
    return new CacheSettings(Precision.F16, sinks, keys.window(), Optional.of(codec));
  }
}
