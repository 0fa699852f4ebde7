package dev.kvasir.methods.quarot;

import dev.kvasir.codec.BitWidthMethod;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.MethodExample;
import dev.kvasir.codec.MethodExample.Trait;
import dev.kvasir.codec.MethodFamily;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.BasisCodec;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.Hadamard;
import dev.kvasir.codec.basis.LayerBasis;
import dev.kvasir.codec.basis.PerTokenScales;
import dev.kvasir.codec.uniform.UniformOptions;
import java.util.EnumSet;
import java.util.List;

/**
 * The KV-cache part of QuaRot: rotates heads by a Hadamard transform, then quantizes uniformly per
 * token.
 */
public final class QuarotMethod extends BitWidthMethod {
  public QuarotMethod() {
    super(
        "quarot",
        MethodFamily.ROTATIONS,
        QuarotConfig::of,
        "quarot:1|2|3|4|8: k, v (bits),",
        "  group (32|64|128), clip (0 to 1)");
  }

  @Override
  public boolean supportsOperandPrecision() {
    return true;
  }

  @Override
  public List<MethodExample> examples() {
    return MethodExample.of(
        EnumSet.of(Trait.ALTERS_CONSTANTS),
        "quarot:2",
        "quarot:3,k=4,group=32,window=0",
        "quarot:2,window=40,sinks=5");
  }

  /**
   * Configuration of QuaRot: rotated heads, quantized per token.
   *
   * @param clipping clipping of the ranges of groups
   */
  private record QuarotConfig(UniformOptions options, Clipping clipping)
      implements QuantizationConfig {
    /** As in the paper, for keys and values. */
    private static final double DEFAULT_CLIP = 0.95;

    static QuarotConfig of(SpecText spec) {
      UniformOptions options = UniformOptions.of(spec, "clip");
      return new QuarotConfig(
          options, new Clipping((float) spec.fraction("clip", DEFAULT_CLIP, 1)));
    }

    @Override
    public CacheConfig cacheConfig(CacheShape shape) {
      return options.cacheConfig(
          new BasisCodec(
              shape.kvHeads(),
              PerTokenScales.head(options, shape),
              options.operandPrecision(),
              List.of(
                  new LayerBasis(
                      Hadamard.plain(shape.keyDim()), Hadamard.plain(shape.valueDim()), clipping)),
              options.group()));
    }
  }
}
