package dev.kvasir.methods.skvq;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodFamily;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.List;
import java.util.Optional;

/** The SKVQ method: reorders channels by magnitude, clips ranges, and quantizes per token. */
public final class SkvqMethod extends BitWidthMethod {
  public SkvqMethod() {
    super(
        "skvq",
        MethodFamily.GROUP_SCALES,
        SkvqConfig::of,
        "skvq:1|2|3|4|8: k, v, group (32|64|128),",
        "  reorder, clip (on|off)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        "skvq:2,group=32", "skvq:3,v=2,reorder=off,sinks=0", "skvq:2,group=32,window=40");
  }

  /**
   * Configuration of SKVQ: groups of a token's channels.
   *
   * @param reorders whether channels of similar magnitude share a group
   * @param clips whether ranges are clipped where that reduces the error
   */
  private record SkvqConfig(UniformOptions options, int sinks, boolean reorders, boolean clips)
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
}
