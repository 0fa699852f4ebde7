package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Rotation;
import java.util.Optional;

/**
 * Patterns and uniform codes of what differs from them.
 *
 * @param patterns mined for keys and for values of each head
 * @param alpha how likely a pattern may widen a value's error: the fewer, the fewer are used
 * @param newPatterns whether later windows add patterns
 * @param thresholds whether values use a pattern only where it helps for certain
 * @param rope what becomes of patterns of keys as positions pass; empty to let them turn where the
 *     rotation is known
 * @param choice which pattern a key takes
 */
public record PatternkvConfig(
    UniformOptions options,
    int patterns,
    double alpha,
    boolean newPatterns,
    boolean keyPatterns,
    boolean valuePatterns,
    boolean thresholds,
    Optional<Rope> rope,
    PatternChoice choice)
    implements QuantizationConfig {
  public enum Rope {
    /** Patterns are vectors as attention sees them, rotated. */
    STATIC,

    /** Patterns are vectors as they were before rotation, and turn with the tokens' positions. */
    ROTATE
  }

  private static final int DEFAULT_PATTERNS = 32;
  private static final double DEFAULT_ALPHA = 0.05;
  private static final double MAX_ALPHA = 0.5;

  public static PatternkvConfig of(SpecText spec) {
    UniformOptions options =
        UniformOptions.of(
            spec,
            "patterns",
            "alpha",
            "new-patterns",
            "k-patterns",
            "v-patterns",
            "v-threshold",
            "rope",
            "choice");
    return new PatternkvConfig(
        options,
        spec.between("patterns", DEFAULT_PATTERNS, 1, PatternSet.MAX_COUNT),
        spec.fraction("alpha", DEFAULT_ALPHA, MAX_ALPHA),
        spec.isOn("new-patterns"),
        spec.isOn("k-patterns"),
        spec.isOn("v-patterns"),
        spec.isOn("v-threshold"),
        spec.has("rope") ? Optional.of(spec.choice("rope", Rope.ROTATE)) : Optional.empty(),
        spec.choice("choice", PatternChoice.RANGE));
  }

  /** Whether patterns of keys turn wherever the model's rotation is known. */
  public boolean rotatesPatterns() {
    return !rope.equals(Optional.of(Rope.STATIC));
  }

  /** A value that is a key has the pattern of the key. */
  @Override
  public boolean supportsValuesInKeys() {
    return true;
  }

  /** Patterns take the same bytes whether they turn or not. */
  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return configFor(shape, CacheContext.unknown());
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    if (rope.equals(Optional.of(Rope.STATIC))) {
      return configFor(shape, context.withRotation(Optional.empty()));
    }
    if (rope.isPresent() && context.rotation().isEmpty()) {
      throw new InvalidInputException(
          "the cache 'patternkv' with rope=rotate must know how keys are rotated, by all layers"
              + " alike; give the model's rope base, or use rope=static");
    }
    return configFor(shape, context);
  }

  private CacheConfig configFor(CacheShape shape, CacheContext context) {
    double any = Double.POSITIVE_INFINITY;
    double ratio = thresholds ? FlatteningGate.largestRatio(shape.valueDim(), alpha) : any;
    return options.cacheConfig(
        new PatternkvCodec(
            shape,
            options.head(shape),
            keyPatterns
                ? Optional.of(side(any, choice, rotation(shape, context)))
                : Optional.empty(),
            valuePatterns && !shape.hasValuesInKeys()
                ? Optional.of(side(ratio, PatternChoice.RANGE, Optional.empty()))
                : Optional.empty(),
            options.operandPrecision(),
            context.kernels(),
            context.workers()));
  }

  /** What does not turn for values does not turn for keys that are the same vectors. */
  private static Optional<Rotation> rotation(CacheShape shape, CacheContext context) {
    return shape.hasValuesInKeys() ? Optional.empty() : context.rotation();
  }

  private PatternOptions side(
      double largestRatio, PatternChoice measure, Optional<Rotation> rotation) {
    return new PatternOptions(patterns, newPatterns, largestRatio, measure, rotation);
  }
}
