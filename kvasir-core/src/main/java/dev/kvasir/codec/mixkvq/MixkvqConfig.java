package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The configuration of MixKVQ.
 *
 * @param high salience above which a channel stays in 16 bits; empty to use the profile's
 * @param mid salience above which a channel has four bits; empty to use the profile's
 * @param residual tokens that are quantized together and share their tiers; less than a page takes
 *     more bytes, since every slice of a page has its own tiers
 * @param tiers whether all tokens of a prompt share their tiers
 */
public record MixkvqConfig(
    OptionalDouble high,
    OptionalDouble mid,
    int group,
    int residual,
    int sinks,
    int window,
    Salience salience,
    QuerySpan queries,
    TierScope tiers,
    OperandPrecision operandPrecision)
    implements QuantizationConfig {
  private static final SortedSet<Integer> RESIDUALS =
      new TreeSet<>(Set.of(32, 64, 96, 128, 256, 384, 512));
  private static final int DEFAULT_GROUP = 32;
  private static final int DEFAULT_SINKS = 32;
  private static final int DEFAULT_WINDOW = 128;
  private static final double MAX_THRESHOLD = 1e9;

  public static MixkvqConfig of(SpecText spec) {
    spec.requireKeys(
        "high",
        "mid",
        "group",
        "residual",
        "sinks",
        "window",
        "salience",
        "queries",
        "tiers",
        OperandPrecision.KEY);
    if (spec.hasBits()) {
      throw spec.invalid("'mixkvq' takes no bits; its thresholds high and mid decide");
    }
    int group = spec.oneOf("group", DEFAULT_GROUP, UniformOptions.GROUPS);
    int residual = spec.oneOf("residual", Page.TOKENS, RESIDUALS);
    if (residual % group != 0) {
      throw spec.invalid(
          "group is %d; expected a divisor of the residual %d".formatted(group, residual));
    }
    return new MixkvqConfig(
        threshold(spec, "high"),
        threshold(spec, "mid"),
        group,
        residual,
        spec.tokens("sinks", DEFAULT_SINKS),
        spec.tokens("window", DEFAULT_WINDOW),
        spec.choice("salience", Salience.QUERY),
        spec.choice("queries", QuerySpan.WINDOW),
        spec.choice("tiers", TierScope.RESIDUAL),
        OperandPrecision.of(spec));
  }

  private static OptionalDouble threshold(SpecText spec, String key) {
    return spec.has(key)
        ? OptionalDouble.of(spec.fraction(key, Double.NaN, MAX_THRESHOLD))
        : OptionalDouble.empty();
  }

  /** Values have no tiers, so a slice of a page cannot take them from keys. */
  @Override
  public boolean supportsValuesInKeys() {
    return residual >= Page.TOKENS;
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return estimationConfig(shape, CacheContext.unknown());
  }

  /** Without thresholds, or without knowing their effect, the estimate is an upper bound. */
  @Override
  public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    return cacheConfig(shape, context, thresholds(context).orElse(Thresholds.NONE));
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    if (salience == Salience.QUERY && context.queryHeads() == 0) {
      throw new InvalidInputException(
          "the cache 'mixkvq' must know how many query heads there are; where there are none, use"
              + " salience=error");
    }
    return cacheConfig(shape, context, requireThresholds(context));
  }

  private CacheConfig cacheConfig(CacheShape shape, CacheContext context, Thresholds thresholds) {
    UniformOptions.requireSupported("mixkvq", shape);
    MixkvqShape sizes =
        new MixkvqShape(
            shape.layers(),
            shape.kvHeads(),
            shape.keyDim(),
            shape.valueDim(),
            context.queryHeads(),
            shape.values());
    MixkvqOptions options =
        new MixkvqOptions(thresholds, salience, queries, group, residual, tiers, operandPrecision);
    MixkvqCodec codec = new MixkvqCodec(sizes, options, shares(context, thresholds));
    return new CacheConfig(Precision.F16, sinks, window, Optional.of(codec));
  }

  /** Returns the typical tier sizes, if a profile has them. */
  public Optional<TierShares> shares(CacheContext context, Thresholds thresholds) {
    return part(context).map(part -> part.shares(salience, thresholds));
  }

  private static Optional<MixkvqProfile> part(CacheContext context) {
    return context.profileWith(MixkvqProfile.PART).map(MixkvqProfile::of);
  }

  /** Returns the user's thresholds, or the profile's where the user gave none. */
  public Optional<Thresholds> thresholds(CacheContext context) {
    Optional<Thresholds> tuned = part(context).map(part -> part.thresholds(salience));
    if (tuned.isEmpty() && (high.isEmpty() || mid.isEmpty())) {
      return Optional.empty();
    }
    float profileHigh = tuned.map(Thresholds::high).orElse(Float.NaN);
    float profileMid = tuned.map(Thresholds::mid).orElse(Float.NaN);
    return Optional.of(
        new Thresholds((float) high.orElse(profileHigh), (float) mid.orElse(profileMid)));
  }

  /**
   * Returns the thresholds.
   *
   * @throws InvalidInputException if neither the user nor the profile gives them
   */
  public Thresholds requireThresholds(CacheContext context) {
    return thresholds(context)
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "the cache 'mixkvq' has no thresholds%s; find them with 'kvasir tune --kv mixkvq"
                            .formatted(context.profileLacksPart())
                        + " --model MODEL', for every command to find, or give high=A,mid=B"));
  }

  @Override
  public String resolvedSpec(String text, CacheContext context) {
    return thresholds(context).map(used -> resolvedSpec(text, used)).orElse(text);
  }

  private String resolvedSpec(String text, Thresholds used) {
    String withHigh = high.isPresent() ? text : text + ",high=" + used.high();
    return mid.isPresent() ? withHigh : withHigh + ",mid=" + used.mid();
  }

  @Override
  public Set<String> profileParts() {
    return Set.of(MixkvqProfile.PART);
  }
}
