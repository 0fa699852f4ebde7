package dev.kvasir.codec.mead;

import dev.kvasir.codec.BudgetSize;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.RequantizeScope;
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
 * @param bits as typed: of a number at {@link #NOMINAL_TOKENS} tokens, with everything that a
 *     sequence keeps then if it has {@link #DEFAULT_SINKS} sinks and a window of {@link
 *     #DEFAULT_WINDOW}
 * @param lateSinks tokens of a layer that stay exact for the attention that they receive
 * @param tables as typed; empty for the best that the profile has
 * @param first whether the first layer is made of token ids, where the profile has its rows
 * @param budget of a sequence whose pages shrink; empty without
 * @param isPooled whether pages shrink once the memory of all sequences is used up
 * @param floor bits that no page goes below, as {@code bits} are counted
 */
record MeadConfig(
    String spec,
    double bits,
    int window,
    int sinks,
    int lateSinks,
    Optional<TableKind> tables,
    FirstLayerMode firstLayer,
    SaliencyMetric saliency,
    boolean storesMeanErrors,
    Optional<BudgetSize> budget,
    boolean isPooled,
    double floor)
    implements QuantizationConfig {
  private static final double MIN_BITS = 0.5;
  private static final double MAX_BITS = 8;
  private static final int DEFAULT_WINDOW = 128;
  private static final int DEFAULT_SINKS = 16;
  private static final int DEFAULT_LATE_SINKS = 4;
  private static final int MAX_LATE_SINKS = 8;
  private static final double DEFAULT_FLOOR = 1;

  /** Bits that pages shrink to. */
  private static final List<Double> LOWER_BITS = List.of(3.0, 2.5, 2.0, 1.5, 1.25, 1.0);

  /** Tokens of a sequence whose bits the name of a spec counts. */
  private static final int NOMINAL_TOKENS = 8000;

  /** The first layer, as typed {@code first=}. */
  private enum FirstLayerMode {
    /** Made of token ids, where that is possible. */
    FREE,

    /** Coded as the others are. */
    CODED
  }

  /** What tables are made of. */
  private record TablesKey(
      Profile profile, TableKind kind, boolean firstLayerFromTokens, Rotation rotation) {}

  /** What rates are made of. */
  private record RatesKey(TablesKey tables, List<MeadRate.RateTarget> bits) {}

  static MeadConfig of(SpecText spec) {
    spec.requireKeys(
        "window", "sinks", "late-sinks", "tables", "first", "classes", "means", "budget", "floor");
    if (spec.has("floor") && !spec.has("budget")) {
      throw spec.invalid("floor is for pages that shrink; give a budget, as in budget=64MiB");
    }
    double bits = spec.decimalBits(MIN_BITS, MAX_BITS);
    return new MeadConfig(
        spec.text(),
        bits,
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", DEFAULT_SINKS),
        spec.between("late-sinks", DEFAULT_LATE_SINKS, 0, MAX_LATE_SINKS),
        spec.has("tables")
            ? Optional.of(spec.choice("tables", TableKind.TOKENS))
            : Optional.empty(),
        spec.choice("first", FirstLayerMode.FREE),
        spec.choice("classes", SaliencyMetric.ATTENTION),
        spec.isOn("means"),
        BudgetSize.in(spec),
        BudgetSize.isPooled(spec),
        spec.decimal("floor", Math.min(bits, DEFAULT_FLOOR), MIN_BITS, bits));
  }

  /** From the bits that were typed down to the floor, where pages shrink. */
  private List<MeadRate.RateTarget> rates() {
    Stream<Double> lower =
        LOWER_BITS.stream()
            .filter(lowerBits -> requantizes() && lowerBits < bits && lowerBits >= floor);
    return Stream.concat(Stream.of(bits), lower).map(MeadConfig::rateTarget).toList();
  }

  private boolean requantizes() {
    return isPooled || budget.isPresent();
  }

  /** Of a number of those tokens that are packed. */
  private static MeadRate.RateTarget rateTarget(double bits) {
    int dense = DEFAULT_SINKS + DEFAULT_WINDOW;
    return new MeadRate.RateTarget(
        bits, (NOMINAL_TOKENS * bits - 16.0 * dense) / (NOMINAL_TOKENS - dense));
  }

  /** How many bytes a page takes is known from the profile. */
  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    throw new InvalidInputException(
        "the cache '%s' shares its bits out by a profile; it needs a model".formatted(spec));
  }

  @Override
  public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    return cacheConfig(shape, context);
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    shape.requireEvenKeyDim(spec);
    TablesKey tablesKey = tablesKey(shape, context, context.requireRotation(spec));
    ModelTables shared = context.requireTables(spec, "tables");
    MeadTables made =
        shared.getOrCreate(tablesKey, MeadTables.class, memory -> tables(shape, tablesKey, memory));
    RatesKey ratesKey = new RatesKey(tablesKey, rates());
    MeadRates rates =
        shared.getOrCreate(ratesKey, MeadRates.class, memory -> MeadRates.of(made, ratesKey.bits));
    MeadCodec codec =
        new MeadCodec(
            made,
            rates.descending(),
            saliency,
            sinks,
            window,
            lateSinks,
            storesMeanErrors,
            context.kernels());
    CacheConfig settings =
        new CacheConfig(
            Precision.F16,
            sinks,
            window,
            Optional.of(requantizes() ? new RequantizingMeadCodec(codec) : codec));
    return budget
        .map(own -> settings.withBudget(own.budget(spec, shape, context, RequantizeScope.PAGE)))
        .orElse(settings);
  }

  private TablesKey tablesKey(CacheShape shape, CacheContext context, Rotation rotation) {
    Profile profile =
        context
            .profile()
            .filter(held -> kinds().anyMatch(kind -> MeadProfile.isPresent(held, kind)))
            .orElseThrow(() -> context.missingCalibration(spec, "tables", "make them", "mead"));
    TableKind kind =
        kinds().filter(each -> MeadProfile.isPresent(profile, each)).findFirst().orElseThrow();
    boolean firstLayerFromTokens =
        firstLayer == FirstLayerMode.FREE
            && MeadProfile.FirstLayer.vocabulary(profile, shape).isPresent();
    return new TablesKey(profile, kind, firstLayerFromTokens, rotation);
  }

  private Stream<TableKind> kinds() {
    return tables.map(Stream::of).orElseGet(() -> Arrays.stream(TableKind.values()));
  }

  private static MeadTables tables(CacheShape shape, TablesKey tablesKey, SegmentAllocator memory) {
    return MeadTables.of(
        shape,
        MeadProfile.of(tablesKey.profile, tablesKey.kind, shape),
        tablesKey.firstLayerFromTokens
            ? Optional.of(MeadProfile.FirstLayer.of(tablesKey.profile, shape))
            : Optional.empty(),
        tablesKey.rotation,
        memory);
  }

  @Override
  public Set<String> profileParts() {
    return Stream.concat(kinds().map(TableKind::part), Stream.of(MeadProfile.FirstLayer.PART))
        .collect(Collectors.toSet());
  }
}
