package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.error.InvalidInputException;
import java.util.Optional;

/**
 * The configuration of patterns with uniform codes for residuals.
 *
 * @param patterns number of patterns mined for keys and for values of each head
 * @param alpha accepted probability that a pattern increases a value's error; smaller uses fewer
 *     patterns
 * @param newPatterns whether later windows add patterns
 * @param thresholds whether values use a pattern only if it helps with confidence {@code 1 - alpha}
 * @param rope how key patterns relate to positions; empty to rotate them if the rotation is known
 * @param choice the measure that selects the pattern of a key
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
    /** Patterns are rotated vectors, as attention reads them. */
    STATIC,

    /** Patterns are vectors before rotation, and rotate with the tokens' positions. */
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

  /** Returns whether key patterns rotate if the model's rotation is known. */
  public boolean rotatesPatterns() {
    return !rope.equals(Optional.of(Rope.STATIC));
  }

  /** A value that is part of a key uses the key's pattern. */
  @Override
  public boolean supportsValuesInKeys() {
    return true;
  }

  /**
   * Where layers rotate differently, patterns were static before they could rotate by layer: the
   * key keeps what was stored then apart.
   */
  @Override
  public String resolvedSpec(String text, CacheContext context) {
    boolean byLayer = context.rotations().isPresent() && context.rotation().isEmpty();
    return rope.isEmpty() && byLayer ? text + ",rope=rotate" : text;
  }

  /** Patterns take the same bytes whether they rotate or not. */
  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return configFor(shape, CacheContext.unknown());
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    if (rope.equals(Optional.of(Rope.STATIC))) {
      return configFor(shape, context.withRotations(Optional.empty()));
    }
    if (rope.isPresent() && context.rotations().isEmpty()) {
      throw new InvalidInputException(
          "the cache 'patternkv' with rope=rotate must know how keys are rotated; give the model's"
              + " rope base, or use rope=static");
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
                ? Optional.of(side(any, choice, rotations(shape, context)))
                : Optional.empty(),
            valuePatterns && !shape.hasValuesInKeys()
                ? Optional.of(side(ratio, PatternChoice.RANGE, Optional.empty()))
                : Optional.empty(),
            options.operandPrecision(),
            context.kernels(),
            context.workers()));
  }

  /**
   * Returns the rotation of key patterns. Keys that contain values do not rotate, because values do
   * not.
   */
  private static Optional<LayerRotations> rotations(CacheShape shape, CacheContext context) {
    return shape.hasValuesInKeys() ? Optional.empty() : context.rotations();
  }

  private PatternOptions side(
      double largestRatio, PatternChoice measure, Optional<LayerRotations> rotations) {
    return new PatternOptions(patterns, newPatterns, largestRatio, measure, rotations);
  }
}
