package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.uniform.UniformKeys;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Channels of keys in tiers by what queries look at.
 *
 * @param high salience above which a channel is kept as it is; the profile's where it is not given
 * @param mid salience above which a channel has four bits; the same
 * @param residual tokens that are sealed together and share their tiers: whole pages
 */
record MixkvqPlan(
    OptionalDouble high,
    OptionalDouble mid,
    int group,
    int residual,
    int sinks,
    int window,
    Salience salience,
    QuerySpan queries,
    Lookups lookups)
    implements CachePlan {
  private static final SortedSet<Integer> RESIDUALS = new TreeSet<>(Set.of(128, 256, 384, 512));
  private static final int DEFAULT_GROUP = 32;
  private static final int DEFAULT_SINKS = 32;
  private static final int DEFAULT_WINDOW = 128;
  private static final double MOST_THRESHOLD = 1e9;

  static MixkvqPlan of(SpecText spec) {
    spec.requireKeys(
        "high", "mid", "group", "residual", "sinks", "window", "salience", "queries", "lookup");
    if (spec.hasBits()) {
      throw spec.wrong("'mixkvq' takes no bits; its thresholds high and mid decide");
    }
    return new MixkvqPlan(
        threshold(spec, "high"),
        threshold(spec, "mid"),
        spec.oneOf("group", DEFAULT_GROUP, UniformKeys.GROUPS),
        spec.oneOf("residual", Page.TOKENS, RESIDUALS),
        spec.tokens("sinks", DEFAULT_SINKS),
        spec.tokens("window", DEFAULT_WINDOW),
        spec.choice("salience", Salience.QUERY),
        spec.choice("queries", QuerySpan.WINDOW),
        spec.choice("lookup", Lookups.EXACT));
  }

  private static OptionalDouble threshold(SpecText spec, String key) {
    return spec.has(key)
        ? OptionalDouble.of(spec.fraction(key, Double.NaN, MOST_THRESHOLD))
        : OptionalDouble.empty();
  }

  @Override
  public boolean takesValuesInKeys() {
    return true;
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return foretelling(shape, CacheHost.unknown());
  }

  /** Without thresholds, or without knowing what they lead to, the most that pages can take. */
  @Override
  public CacheSettings foretelling(CacheShape shape, CacheHost host) {
    return settings(shape, host, thresholds(host).orElse(Thresholds.NONE));
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    if (salience == Salience.QUERY && host.queryHeads() == 0) {
      throw new InvalidInputException(
          "the cache 'mixkvq' must know how many query heads there are; where there are none, use"
              + " salience=error");
    }
    return settings(shape, host, required(host));
  }

  private CacheSettings settings(CacheShape shape, CacheHost host, Thresholds thresholds) {
    UniformKeys.requirePackable("mixkvq", shape);
    MixkvqShape sizes =
        new MixkvqShape(
            shape.layers(),
            shape.kvHeads(),
            shape.keyDim(),
            shape.valueDim(),
            host.queryHeads(),
            shape.values());
    MixkvqSettings settings =
        new MixkvqSettings(thresholds, salience, queries, group, residual / Page.TOKENS, lookups);
    MixkvqCodec codec =
        new MixkvqCodec(sizes, settings, part(host).map(part -> part.shares(salience, thresholds)));
    return new CacheSettings(Precision.F16, sinks, window, Optional.of(codec));
  }

  private static Optional<MixkvqProfile> part(CacheHost host) {
    return host.profileWith(MixkvqProfile.PART).map(MixkvqProfile::of);
  }

  /** The user's thresholds, and the profile's where the user has given none. */
  private Optional<Thresholds> thresholds(CacheHost host) {
    Optional<Thresholds> tuned = part(host).map(part -> part.thresholds(salience));
    if (tuned.isEmpty() && (high.isEmpty() || mid.isEmpty())) {
      return Optional.empty();
    }
    float profileHigh = tuned.map(Thresholds::high).orElse(Float.NaN);
    float profileMid = tuned.map(Thresholds::mid).orElse(Float.NaN);
    return Optional.of(
        new Thresholds((float) high.orElse(profileHigh), (float) mid.orElse(profileMid)));
  }

  private Thresholds required(CacheHost host) {
    return thresholds(host)
        .orElseThrow(
            () ->
                new InvalidInputException(
                    "the cache 'mixkvq' has no thresholds%s; find them with 'kvasir tune --kv mixkvq"
                            .formatted(host.holdingNone())
                        + " --out FILE' and give --profile FILE, or give high=A,mid=B"));
  }

  @Override
  public String named(String text, CacheHost host) {
    return thresholds(host).map(used -> named(text, used)).orElse(text);
  }

  private String named(String text, Thresholds used) {
    String withHigh = high.isPresent() ? text : text + ",high=" + used.high();
    return mid.isPresent() ? withHigh : withHigh + ",mid=" + used.mid();
  }

  @Override
  public Set<String> profileParts() {
    return Set.of(MixkvqProfile.PART);
  }
}
