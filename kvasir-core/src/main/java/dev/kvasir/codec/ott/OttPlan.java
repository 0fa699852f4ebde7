package dev.kvasir.codec.ott;

import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformKeys;

/**
 * Uniform codes beside tokens that are kept.
 *
 * @param outliers tokens of each page and head
 */
record OttPlan(UniformKeys keys, int outliers) implements CachePlan {
  /** A few; the paper's pool has as few for a whole sequence. */
  private static final int DEFAULT_OUTLIERS = 3;

  /** Half of the smallest group: a token that is left out needs one that is not beside it. */
  private static final int MOST_OUTLIERS = 16;

  static OttPlan of(SpecText spec) {
    UniformKeys keys = UniformKeys.of(spec, "outliers");
    return new OttPlan(keys, spec.between("outliers", DEFAULT_OUTLIERS, 1, MOST_OUTLIERS));
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    KeptShape kept =
        new KeptShape(shape.kvHeads(), outliers, shape.keyDim(), shape.valueDim(), keys.group());
    return keys.settings(new OttCodec(kept, keys.head(shape), keys.lookups()));
  }
}
