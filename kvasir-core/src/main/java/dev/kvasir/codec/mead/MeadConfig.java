package dev.kvasir.codec.mead;

import dev.kvasir.codec.BudgetSize;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.RequantizeScope;
import dev.kvasir.codec.SpecText;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.profile.Profile;
import java.lang.foreign.SegmentAllocator;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Configuration of Mead. The prediction tables come from the model's profile.
 *
 * @param spec the spec as typed
 * @param bits bits per stored value as typed, see {@link NominalBits}
 * @param source where tables and bit widths come from
 * @param lateSinks tokens per layer that stay unquantized because of the attention they receive
 * @param tables kind of tables as typed; empty for the best kind in the profile
 * @param firstLayer whether the first layer is reconstructed from token ids, where the profile has
 *     its rows
 * @param budget memory budget of a sequence whose pages are requantized; empty for none
 * @param isPooled whether pages are requantized once the memory shared by all sequences is used up
 * @param floor fewest bits a page may be requantized to, counted as {@code bits}
 */
record MeadConfig(
    String spec,
    double bits,
    ProfileSource source,
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
  /** At fewer bits, a sequence of 8,192 tokens has little beside its sinks and residual window. */
  private static final double MIN_BITS = 0.75;

  private static final double MAX_BITS = 8;
  private static final int MAX_LATE_SINKS = 8;
  private static final double DEFAULT_FLOOR = 1;

  /** Bits that pages are requantized to. */
  private static final List<Double> LOWER_BITS = List.of(3.0, 2.5, 2.0, 1.5, 1.25, 1.0);

  /** Measured with models of 0.5 to 1.5 billion parameters; see docs/choosing-a-cache.md. */
  private static final String CALIBRATION_TIME =
      "in about 7 minutes for a billion parameters on two cores";

  /** How the first layer is stored, as typed in {@code first=}. */
  private enum FirstLayerMode {
    /** Reconstructed from token ids, where that is possible. */
    FREE,

    /** Quantized like the other layers. */
    CODED
  }

  /** Key under which a model's tables are shared. */
  private record TablesKey(
      Profile profile, TableKind kind, boolean firstLayerFromTokens, LayerRotations rotations) {}

  /** Key under which a model's rates are shared. */
  private record RatesKey(
      TablesKey tables, SaliencyMetric saliency, List<MeadRate.RateTarget> bits) {}

  /** Key under which what fits sequences is shared. */
  private record FitterKey(MeadSizes sizes, LayerRotations rotations, int queryHeads) {}

  static MeadConfig of(SpecText spec) {
    spec.requireKeys(
        "profile",
        "window",
        "sinks",
        "late-sinks",
        "tables",
        "first",
        "classes",
        "means",
        "budget",
        "floor");
    ProfileSource source = spec.choice("profile", ProfileSource.MODEL);
    if (source == ProfileSource.NONE) {
      requireFittable(spec);
    }
    if (spec.has("floor") && !spec.has("budget")) {
      throw spec.invalid("floor is for requantization; give a budget, as in budget=64MiB");
    }
    double bits = spec.decimalBits(MIN_BITS, MAX_BITS);
    return new MeadConfig(
        spec.text(),
        bits,
        source,
        spec.tokens("window", NominalBits.WINDOW),
        spec.tokens("sinks", NominalBits.SINKS),
        spec.between("late-sinks", NominalBits.LATE_SINKS, 0, MAX_LATE_SINKS),
        spec.has("tables")
            ? Optional.of(spec.choice("tables", TableKind.TOKENS))
            : Optional.empty(),
        spec.choice("first", FirstLayerMode.FREE),
        spec.choice("classes", SaliencyMetric.ENERGY),
        spec.isOn("means"),
        BudgetSize.in(spec),
        BudgetSize.isPooled(spec),
        spec.decimal("floor", Math.min(bits, DEFAULT_FLOOR), MIN_BITS, bits));
  }

  /** Rejects what only a profile can provide. */
  private static void requireFittable(SpecText spec) {
    for (String key : List.of("tables", "first", "classes", "budget")) {
      if (spec.has(key)) {
        throw spec.invalid(
            "%s=%s needs a profile; leave out profile=none or %s"
                .formatted(key, spec.value(key), key));
      }
    }
  }

  /**
   * Returns the rates from the typed bits down to the floor; only the first without requantization.
   */
  private List<MeadRate.RateTarget> rates(MeadTables made) {
    Stream<Double> lower =
        LOWER_BITS.stream()
            .filter(lowerBits -> requantizes() && lowerBits < bits && lowerBits >= floor);
    return Stream.concat(Stream.of(bits), lower)
        .map(nominal -> NominalBits.target(nominal, made))
        .toList();
  }

  private boolean requantizes() {
    return isPooled || budget.isPresent();
  }

  /** Always fails: page sizes depend on the profile. */
  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    throw new InvalidInputException(
        "the cache '%s' allocates its bits for a model; it needs one".formatted(spec));
  }

  @Override
  public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    return cacheConfig(shape, context);
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    shape.requireEvenKeyDim(spec);
    return source == ProfileSource.NONE
        ? fittedConfig(shape, context)
        : profiledConfig(shape, context);
  }

  private CacheConfig fittedConfig(CacheShape shape, CacheContext context) {
    if (context.queryHeads() == 0) {
      throw new InvalidInputException(
          "the cache '%s' must know how many query heads there are; it needs a model"
              .formatted(spec));
    }
    FitterKey key =
        new FitterKey(MeadSizes.of(shape), context.requireRotations(spec), context.queryHeads());
    PromptFitter fitter =
        context
            .requireTables(spec, "a table")
            .cached(
                key,
                PromptFitter.class,
                memory -> PromptFitter.of(key.sizes(), key.rotations(), key.queryHeads(), memory));
    MeadCodec settings = codec(fitter.blank(), List.of(), shape.windows(), context);
    PromptFittedCodec codec =
        PromptFittedCodec.of(settings, fitter, NominalBits.fittedTarget(bits, fitter.sizes()));
    return new CacheConfig(Precision.F16, sinks, window, Optional.of(codec));
  }

  private MeadCodec codec(
      MeadTables made, List<MeadRate> rates, LayerWindows windows, CacheContext context) {
    return new MeadCodec(
        made,
        rates,
        saliency,
        sinks,
        window,
        lateSinks,
        storesMeanErrors,
        windows,
        context.kernels());
  }

  private CacheConfig profiledConfig(CacheShape shape, CacheContext context) {
    TablesKey tablesKey = tablesKey(shape, context, context.requireRotations(spec));
    ModelTables shared = context.requireTables(spec, "tables");
    MeadTables made =
        shared.cached(tablesKey, MeadTables.class, memory -> tables(shape, tablesKey, memory));
    RatesKey ratesKey = new RatesKey(tablesKey, saliency, rates(made));
    MeadRates rates =
        shared.cached(
            ratesKey, MeadRates.class, memory -> MeadRates.of(made, saliency, ratesKey.bits));
    MeadCodec codec =
        codec(
            made,
            rates.descending(),
            made.needsTokenIds() || requantizes() ? LayerWindows.NONE : shape.windows(),
            context);
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

  private TablesKey tablesKey(CacheShape shape, CacheContext context, LayerRotations rotations) {
    Profile profile =
        context
            .profile()
            .filter(found -> kinds().anyMatch(kind -> MeadProfile.isPresent(found, kind)))
            .orElseThrow(() -> missingTables(context));
    TableKind kind =
        kinds().filter(each -> MeadProfile.isPresent(profile, each)).findFirst().orElseThrow();
    boolean firstLayerFromTokens =
        firstLayer == FirstLayerMode.FREE
            && MeadProfile.FirstLayer.vocabulary(profile, shape).isPresent();
    return new TablesKey(profile, kind, firstLayerFromTokens, rotations);
  }

  private InvalidInputException missingTables(CacheContext context) {
    return new InvalidInputException(
        ("the cache '%s' needs a calibrated profile%s; 'kvasir calibrate --kv mead --model MODEL'"
                + " makes one that every command finds, %s; profile=none does without one")
            .formatted(spec, context.profileLacksPart(), CALIBRATION_TIME));
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
        tablesKey.rotations,
        memory);
  }

  /**
   * Stored data of versions that counted fewer bytes has larger pages. A text of its own keeps both
   * apart, so that neither takes the other for damaged.
   */
  @Override
  public String resolvedSpec(String text, CacheContext context) {
    return text + ",bytes=all";
  }

  @Override
  public Optional<String> warning(Profile profile) {
    return Optional.of(profile)
        .filter(given -> source == ProfileSource.MODEL)
        .flatMap(MeadCheck::of)
        .flatMap(check -> check.warning(bits));
  }

  @Override
  public Set<String> profileParts() {
    if (source == ProfileSource.NONE) {
      return Set.of();
    }
    return Stream.concat(kinds().map(TableKind::part), Stream.of(MeadProfile.FirstLayer.PART))
        .collect(Collectors.toSet());
  }
}
