package dev.kvasir.codec.kvquant;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformKeys;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Rotation;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Codes of levels.
 *
 * @param outliers numbers of each channel of keys, and of each value, that are kept apart
 * @param keys packed as they were before rotation, where it is known, or as they are
 */
record KvquantPlan(
    int keyBits, int valueBits, int outliers, Levels levels, KeyState keys, int window, int sinks)
    implements CachePlan {
  private static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(2, 3, 4));

  /** About the paper's hundredth of 128 numbers. */
  private static final int DEFAULT_OUTLIERS = 1;

  private static final int MOST_OUTLIERS = 8;

  /** The paper's. */
  private static final int DEFAULT_SINKS = 1;

  private static final int DEFAULT_WINDOW = 128;
  private static final String NAME = "kvquant";

  static KvquantPlan of(SpecText spec) {
    spec.requireKeys("k", "v", "outliers", "levels", "rope", "window", "sinks");
    int bits = spec.bits(BITS);
    return new KvquantPlan(
        spec.oneOf("k", bits, BITS),
        spec.oneOf("v", bits, BITS),
        spec.between("outliers", DEFAULT_OUTLIERS, 0, MOST_OUTLIERS),
        spec.choice("levels", Levels.FITTED),
        spec.choice("rope", KeyState.BEFORE),
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", DEFAULT_SINKS));
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return settings(shape, CacheHost.unknown());
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    UniformKeys.requirePackable(NAME, shape);
    int kept = Math.min(outliers, shape.valueDim() / 2);
    LevelCodes ofKeys = new LevelCodes(shape.keyDim(), Page.TOKENS, keyBits, outliers, levels);
    LevelCodes ofValues = new LevelCodes(Page.TOKENS, shape.valueDim(), valueBits, kept, levels);
    Optional<Rotation> rotation = keys == KeyState.BEFORE ? host.rotation() : Optional.empty();
    KvquantCodec codec = new KvquantCodec(shape.kvHeads(), ofKeys, ofValues, rotation);
    return new CacheSettings(Precision.F16, sinks, window, Optional.of(codec));
  }
}
