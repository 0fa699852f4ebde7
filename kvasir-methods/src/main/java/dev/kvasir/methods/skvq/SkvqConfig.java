package dev.kvasir.methods.skvq;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;

/**
 * Configuration of SKVQ: groups of a token's channels.
 *
 * @param reorders whether channels of similar magnitude share a group
 * @param clips whether ranges are clipped where that reduces the error
 */
record SkvqConfig(UniformOptions options, int sinks, boolean reorders, boolean clips)
    implements QuantizationConfig {
  /** As in the paper. */
  private static final int DEFAULT_SINKS = 5;

  static SkvqConfig of(SpecText spec) {
    UniformOptions options = UniformOptions.of(spec, "reorder", "clip");
    return new SkvqConfig(
        options, spec.tokens("sinks", DEFAULT_SINKS), spec.isOn("reorder"), spec.isOn("clip"));
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    UniformOptions.requireSupported(options.method(), shape);
    SkvqShape head =
        new SkvqShape(
            shape.keyDim(),
            shape.valueDim(),
            options.keyBits(),
            options.valueBits(),
            options.group(),
            reorders);
    SkvqCodec codec = new SkvqCodec(shape.kvHeads(), head, clips, options.operandPrecision());
    return new CacheConfig(Precision.F16, sinks, options.window(), Optional.of(codec));
  }
}
