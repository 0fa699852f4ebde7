package dev.kvasir.methods.quarot;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.BasisCodec;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.Hadamard;
import dev.kvasir.codec.basis.LayerBasis;
import dev.kvasir.codec.basis.PerTokenScales;
import dev.kvasir.codec.uniform.UniformOptions;
import java.util.List;

/**
 * Configuration of QuaRot: rotated heads, quantized per token.
 *
 * @param clipping clipping of the ranges of groups
 */
record QuarotConfig(UniformOptions options, Clipping clipping) implements QuantizationConfig {
  /** As in the paper, for keys and values. */
  private static final double DEFAULT_CLIP = 0.95;

  static QuarotConfig of(SpecText spec) {
    UniformOptions options = UniformOptions.of(spec, "clip");
    return new QuarotConfig(options, new Clipping((float) spec.fraction("clip", DEFAULT_CLIP, 1)));
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
