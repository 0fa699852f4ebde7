package dev.kvasir.codec.patternkv;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformKeys;
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
public record PatternkvPlan(
    UniformKeys keys,
    int patterns,
    double alpha,
    boolean newPatterns,
    boolean keyPatterns,
    boolean valuePatterns,
    boolean thresholds,
    Optional<Rope> rope,
    PatternChoice choice)
    implements CachePlan {
  public enum Rope {
    /** Patterns are vectors as attention sees them, rotated. */
    STATIC,

    /** Patterns are vectors as they were before rotation, and turn with the tokens' positions. */
    ROTATE
  }

  private static final int DEFAULT_PATTERNS = 32;
  private static final double DEFAULT_ALPHA = 0.05;
  private static final double MOST_ALPHA = 0.5;

  public static PatternkvPlan of(SpecText spec) {
    UniformKeys keys =
        UniformKeys.of(
            spec,
            "patterns",
            "alpha",
            "new-patterns",
            "k-patterns",
            "v-patterns",
            "v-threshold",
            "rope",
            "choice");
    return new PatternkvPlan(
        keys,
        spec.between("patterns", DEFAULT_PATTERNS, 1, Patterns.MOST),
        spec.fraction("alpha", DEFAULT_ALPHA, MOST_ALPHA),
        spec.isOn("new-patterns"),
        spec.isOn("k-patterns"),
        spec.isOn("v-patterns"),
        spec.isOn("v-threshold"),
        spec.has("rope") ? Optional.of(spec.choice("rope", Rope.ROTATE)) : Optional.empty(),
        spec.choice("choice", PatternChoice.RANGE));
  }

  /** Whether patterns of keys turn wherever the model's rotation is known. */
  public boolean turns() {
    return !rope.equals(Optional.of(Rope.STATIC));
  }

  /** A value that is a key has the pattern of the key. */
  @Override
  public boolean takesValuesInKeys() {
    return true;
  }

  /** Patterns take the same bytes whether they turn or not. */
  @Override
  public CacheSettings settings(CacheShape shape) {
    return turning(shape, CacheHost.unknown());
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    if (rope.equals(Optional.of(Rope.STATIC))) {
      return turning(shape, host.withRotation(Optional.empty()));
    }
    if (rope.isPresent() && host.rotation().isEmpty()) {
      throw new InvalidInputException(
          "the cache 'patternkv' with rope=rotate must know how keys are rotated, by all layers"
              + " alike; give the model's rope base, or use rope=static");
    }
    return turning(shape, host);
  }

  private CacheSettings turning(CacheShape shape, CacheHost host) {
    double any = Double.POSITIVE_INFINITY;
    double ratio = thresholds ? FlatteningGate.largestRatio(shape.valueDim(), alpha) : any;
    return keys.settings(
        new PatternkvCodec(
            shape,
            keys.head(shape),
            keyPatterns ? Optional.of(side(any, choice, rotation(shape, host))) : Optional.empty(),
            valuePatterns && !shape.hasValuesInKeys()
                ? Optional.of(side(ratio, PatternChoice.RANGE, Optional.empty()))
                : Optional.empty(),
            keys.lookups(),
            host.kernels(),
            host.crew()));
  }

  /** What does not turn for values does not turn for keys that are the same vectors. */
  private static Optional<Rotation> rotation(CacheShape shape, CacheHost host) {
    return shape.hasValuesInKeys() ? Optional.empty() : host.rotation();
  }

  private SideSettings side(
      double largestRatio, PatternChoice measure, Optional<Rotation> rotation) {
    return new SideSettings(patterns, newPatterns, largestRatio, measure, rotation);
  }
}
