package dev.kvasir.codec.quarot;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.BasisCodec;
import dev.kvasir.codec.basis.Clipping;
import dev.kvasir.codec.basis.Hadamard;
import dev.kvasir.codec.basis.LayerBasis;
import dev.kvasir.codec.basis.TokenScales;
import dev.kvasir.codec.uniform.UniformKeys;
import java.util.List;

/**
 * Rotated heads by token.
 *
 * @param clipping of the ranges of groups
 */
record QuarotPlan(UniformKeys keys, Clipping clipping) implements CachePlan {
  /** The paper's, for keys and values. */
  private static final double DEFAULT_CLIP = 0.95;

  static QuarotPlan of(SpecText spec) {
    UniformKeys keys = UniformKeys.of(spec, "clip");
    return new QuarotPlan(keys, new Clipping((float) spec.fraction("clip", DEFAULT_CLIP, 1)));
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return keys.settings(
        new BasisCodec(
            shape.kvHeads(),
            TokenScales.head(keys, shape),
            keys.lookups(),
            List.of(
                new LayerBasis(
                    Hadamard.plain(shape.keyDim()), Hadamard.plain(shape.valueDim()), clipping)),
            keys.group()));
  }
}
