package dev.kvasir.methods.kvquant;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Rotation;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Configuration of KVQuant.
 *
 * @param outliers values of each key channel, and of each value vector, that are stored separately
 * @param ropeOrder whether keys are quantized before RoPE, if the rotation is known, or after it
 */
record KvquantConfig(
    int keyBits,
    int valueBits,
    int outliers,
    LevelPlacement levels,
    RopeOrder ropeOrder,
    int window,
    int sinks)
    implements QuantizationConfig {
  private static final SortedSet<Integer> BITS = new TreeSet<>(Set.of(2, 3, 4));

  /** About the paper's one percent of 128 numbers. */
  private static final int DEFAULT_OUTLIERS = 1;

  private static final int MAX_OUTLIERS = 8;

  /** As in the paper. */
  private static final int DEFAULT_SINKS = 1;

  private static final int DEFAULT_WINDOW = 128;
  private static final String NAME = "kvquant";

  static KvquantConfig of(SpecText spec) {
    spec.requireKeys("k", "v", "outliers", "levels", "rope", "window", "sinks");
    int bits = spec.bits(BITS);
    return new KvquantConfig(
        spec.oneOf("k", bits, BITS),
        spec.oneOf("v", bits, BITS),
        spec.between("outliers", DEFAULT_OUTLIERS, 0, MAX_OUTLIERS),
        spec.choice("levels", LevelPlacement.FITTED),
        spec.choice("rope", RopeOrder.BEFORE),
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", DEFAULT_SINKS));
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return cacheConfig(shape, CacheContext.unknown());
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    UniformOptions.requireSupported(NAME, shape);
    int valueOutliers = Math.min(outliers, shape.valueDim() / 2);
    NonUniformCodes ofKeys =
        new NonUniformCodes(shape.keyDim(), Page.TOKENS, keyBits, outliers, levels);
    NonUniformCodes ofValues =
        new NonUniformCodes(Page.TOKENS, shape.valueDim(), valueBits, valueOutliers, levels);
    Optional<Rotation> rotation =
        ropeOrder == RopeOrder.BEFORE ? context.rotation() : Optional.empty();
    KvquantCodec codec = new KvquantCodec(shape.kvHeads(), ofKeys, ofValues, rotation);
    return new CacheConfig(Precision.F16, sinks, window, Optional.of(codec));
  }

  /** Whether keys are quantized before or after RoPE. */
  private enum RopeOrder {
    BEFORE,
    AFTER
  }
}
