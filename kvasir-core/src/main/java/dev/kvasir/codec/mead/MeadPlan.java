package dev.kvasir.codec.mead;

import dev.kvasir.codec.BudgetSize;
import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.ShrinkStep;
import dev.kvasir.codec.SpecText;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Rotation;
import dev.kvasir.profile.Profile;
import java.lang.foreign.SegmentAllocator;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Codes of what tables leave, which the model's profile holds.
 *
 * @param spec as typed
 * @param bits as typed: of a number at {@link #TOKENS} tokens, with everything that a sequence
 *     keeps then if it has {@link #DEFAULT_SINKS} sinks and a window of {@link #DEFAULT_WINDOW}
 * @param lateSinks tokens of a layer that stay exact for the attention that they receive
 * @param tables as typed; empty for the best that the profile has
 * @param first whether the first layer is made of token ids, where the profile has its rows
 * @param budget of a sequence whose pages shrink; empty without
 * @param isPooled whether pages shrink once the memory of all sequences is used up
 * @param floor bits that no page goes below, as {@code bits} are counted
 */
record MeadPlan(
    String spec,
    double bits,
    int window,
    int sinks,
    int lateSinks,
    Optional<TableKind> tables,
    First first,
    Classing classing,
    boolean keepsMeans,
    Optional<BudgetSize> budget,
    boolean isPooled,
    double floor)
    implements CachePlan {
  private static final double LEAST_BITS = 0.5;
  private static final double MOST_BITS = 8;
  private static final int DEFAULT_WINDOW = 128;
  private static final int DEFAULT_SINKS = 16;
  private static final int DEFAULT_LATE_SINKS = 4;
  private static final int MOST_LATE_SINKS = 8;
  private static final double DEFAULT_FLOOR = 1;

  /** Bits that pages shrink to. */
  private static final List<Double> LOWER_BITS = List.of(3.0, 2.5, 2.0, 1.5, 1.25, 1.0);

  /** Tokens of a sequence whose bits the name of a spec counts. */
  private static final int TOKENS = 8000;

  /** The first layer, as typed {@code first=}. */
  private enum First {
    /** Made of token ids, where that is possible. */
    FREE,

    /** Coded as the others are. */
    CODED
  }

  /** What tables are made of. */
  private record Origin(Profile profile, TableKind kind, boolean free, Rotation turn) {}

  /** What rates are made of. */
  private record RateOrigin(Origin tables, List<MeadRate.Bits> bits) {}

  static MeadPlan of(SpecText spec) {
    spec.requireKeys(
        "window", "sinks", "late-sinks", "tables", "first", "classes", "means", "budget", "floor");
    if (spec.has("floor") && !spec.has("budget")) {
      throw spec.wrong("floor is for pages that shrink; give a budget, as in budget=64MiB");
    }
    double bits = spec.decimalBits(LEAST_BITS, MOST_BITS);
    return new MeadPlan(
        spec.text(),
        bits,
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", DEFAULT_SINKS),
        spec.between("late-sinks", DEFAULT_LATE_SINKS, 0, MOST_LATE_SINKS),
        spec.has("tables")
            ? Optional.of(spec.choice("tables", TableKind.TOKENS))
            : Optional.empty(),
        spec.choice("first", First.FREE),
        spec.choice("classes", Classing.ATTENTION),
        spec.isOn("means"),
        BudgetSize.in(spec),
        BudgetSize.isPooled(spec),
        spec.decimal("floor", Math.min(bits, DEFAULT_FLOOR), LEAST_BITS, bits));
  }

  /** From the bits that were typed down to the floor, where pages shrink. */
  private List<MeadRate.Bits> rates() {
    Stream<Double> lower =
        LOWER_BITS.stream()
            .filter(lowerBits -> shrinks() && lowerBits < bits && lowerBits >= floor);
    return Stream.concat(Stream.of(bits), lower).map(MeadPlan::packed).toList();
  }

  private boolean shrinks() {
    return isPooled || budget.isPresent();
  }

  /** Of a number of those tokens that are packed. */
  private static MeadRate.Bits packed(double bits) {
    int dense = DEFAULT_SINKS + DEFAULT_WINDOW;
    return new MeadRate.Bits(bits, (TOKENS * bits - 16.0 * dense) / (TOKENS - dense));
  }

  /** How many bytes a page takes is known from the profile. */
  @Override
  public CacheSettings settings(CacheShape shape) {
    throw new InvalidInputException(
        "the cache '%s' shares its bits out by a profile; it needs a model".formatted(spec));
  }

  @Override
  public CacheSettings foretelling(CacheShape shape, CacheHost host) {
    return settings(shape, host);
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    shape.requirePairs(spec);
    Origin origin = origin(shape, host, host.requireRotation(spec));
    ModelTables shared = host.requireTables(spec, "tables");
    MeadTables made = shared.of(origin, MeadTables.class, memory -> tables(shape, origin, memory));
    RateOrigin rateOrigin = new RateOrigin(origin, rates());
    MeadRates rates =
        shared.of(rateOrigin, MeadRates.class, memory -> MeadRates.of(made, rateOrigin.bits));
    MeadCodec codec =
        new MeadCodec(
            made, rates.falling(), classing, sinks, window, lateSinks, keepsMeans, host.kernels());
    CacheSettings settings =
        new CacheSettings(
            Precision.F16,
            sinks,
            window,
            Optional.of(shrinks() ? new ShrinkingMead(codec) : codec));
    return budget
        .map(own -> settings.within(own.budget(spec, shape, host, ShrinkStep.PAGE)))
        .orElse(settings);
  }

  private Origin origin(CacheShape shape, CacheHost host, Rotation rotation) {
    Profile profile =
        host.profile()
            .filter(held -> kinds().anyMatch(kind -> MeadProfile.isIn(held, kind)))
            .orElseThrow(() -> host.lacking(spec, "tables", "make them", "mead"));
    TableKind kind =
        kinds().filter(each -> MeadProfile.isIn(profile, each)).findFirst().orElseThrow();
    boolean free =
        first == First.FREE && MeadProfile.FirstLayer.vocabulary(profile, shape).isPresent();
    return new Origin(profile, kind, free, rotation);
  }

  private Stream<TableKind> kinds() {
    return tables.map(Stream::of).orElseGet(() -> Arrays.stream(TableKind.values()));
  }

  private static MeadTables tables(CacheShape shape, Origin origin, SegmentAllocator memory) {
    return MeadTables.of(
        shape,
        MeadProfile.of(origin.profile, origin.kind, shape),
        origin.free
            ? Optional.of(MeadProfile.FirstLayer.of(origin.profile, shape))
            : Optional.empty(),
        origin.turn,
        memory);
  }

  @Override
  public Set<String> profileParts() {
    return Stream.concat(kinds().map(TableKind::part), Stream.of(MeadProfile.FirstLayer.PART))
        .collect(Collectors.toSet());
  }
}
