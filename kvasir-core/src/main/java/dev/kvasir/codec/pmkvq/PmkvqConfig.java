package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.BudgetSize;
import dev.kvasir.codec.CacheBudget;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerSensitivities;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.OperandPrecision;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.QuantizationConfig;
import dev.kvasir.codec.RequantizeScope;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.SmoothingFactors;
import dev.kvasir.codec.uniform.UniformOptions;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.profile.Profile;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The configuration of uniform codes that start with 16 bits and are requantized within a budget.
 *
 * @param spec the spec as typed
 * @param floorBits minimum bits of every layer
 * @param budgetSize the budget; empty for the minimum that holds the context
 * @param isPooled whether pages keep their bits until the memory of all sequences is full
 * @param scope which pages are requantized when the budget is full
 * @param keyScales the axis of key scales
 * @param widths the source of layer floors; empty for the best that the profile and the budget
 *     allow
 * @param usesSmoothing whether per-token keys are divided by the profile's factors, if it has any;
 *     per-channel keys would not benefit
 * @param initialWidth the bit width at which a page is first quantized
 */
public record PmkvqConfig(
    String spec,
    int floorBits,
    Optional<BudgetSize> budgetSize,
    boolean isPooled,
    int window,
    int sinks,
    RightShift shift,
    RequantizeScope scope,
    KeyScaleAxis keyScales,
    Optional<FloorSource> widths,
    boolean usesSmoothing,
    OperandPrecision operandPrecision,
    InitialWidth initialWidth)
    implements QuantizationConfig {
  static final SortedSet<Integer> FLOORS = new TreeSet<>(Set.of(2, 4, 8));
  private static final int DEFAULT_WINDOW = 128;

  /** With fewer channels, padding makes an 8-bit page larger than a 16-bit one. */
  private static final int MIN_CHANNELS = 8;

  private static final int DEFAULT_SINKS = 1;

  public static PmkvqConfig of(SpecText spec) {
    spec.requireKeys(
        "budget",
        "window",
        "sinks",
        "shift",
        "shrink",
        "keys",
        "widths",
        "smoothing",
        OperandPrecision.KEY,
        "born");
    KeyScaleAxis keyScales = spec.choice("keys", KeyScaleAxis.CHANNEL);
    if (keyScales == KeyScaleAxis.CHANNEL && spec.has("smoothing") && spec.isOn("smoothing")) {
      throw spec.invalid("smoothing=on is for keys=token; keys by channel have a scale each");
    }
    return new PmkvqConfig(
        spec.text(),
        spec.bits(FLOORS),
        BudgetSize.in(spec),
        BudgetSize.isPooled(spec),
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", DEFAULT_SINKS),
        spec.choice("shift", RightShift.EQUIVALENT),
        spec.choice("shrink", RequantizeScope.PAGE),
        keyScales,
        spec.has("widths")
            ? Optional.of(spec.choice("widths", FloorSource.SAME))
            : Optional.empty(),
        keyScales == KeyScaleAxis.TOKEN && spec.isOn("smoothing"),
        OperandPrecision.of(spec),
        spec.choice("born", InitialWidth.NARROW));
  }

  /** Values that are part of keys cannot be divided by key factors, so smoothing is skipped. */
  @Override
  public boolean supportsValuesInKeys() {
    return true;
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape) {
    return cacheConfig(shape, CacheContext.unknown());
  }

  @Override
  public CacheConfig estimationConfig(CacheShape shape, CacheContext context) {
    return cacheConfig(shape, context);
  }

  @Override
  public CacheConfig cacheConfig(CacheShape shape, CacheContext context) {
    UniformOptions.requireSupported(spec, shape);
    int narrowest = Math.min(shape.keyDim(), shape.valueDim());
    if (narrowest < MIN_CHANNELS) {
      throw new InvalidInputException(
          "the cache '%s' cannot shrink heads of %d channels; expected at least %d"
              .formatted(spec, narrowest, MIN_CHANNELS));
    }
    PmkvqCodec codec =
        new PmkvqCodec(
            shape,
            floors(shape, context),
            keyScales,
            usesSmoothing && !shape.hasValuesInKeys()
                ? SmoothingFactors.of(context.profile(), shape)
                : List.of(),
            shift,
            operandPrecision,
            initialWidth);
    CacheConfig settings = settings(Optional.of(codec));
    return isPooled ? settings : settings.withBudget(budget(shape, context));
  }

  @Override
  public Optional<CacheBudget> mixedHeadsBudget(CacheShape shape, CacheContext context) {
    return isPooled ? Optional.empty() : Optional.of(budget(shape, context));
  }

  private CacheConfig settings(Optional<PageCodec> codec) {
    return new CacheConfig(Precision.F16, sinks, window, codec);
  }

  private CacheBudget budget(CacheShape shape, CacheContext context) {
    return budgetSize
        .map(own -> own.budget(spec, shape, context, scope))
        .orElseGet(
            () ->
                CacheBudget.minimumFor(
                    spec, BudgetSize.requireContextLimit(spec, context), scope, context.workers()));
  }

  /** Returns the minimum bits of each layer. */
  public int[] floors(CacheShape shape, CacheContext context) {
    return switch (floorSource(shape, context)) {
      case SAME -> sameFloors(shape.layers());
      case PROFILE -> profileFloors(shape.layers(), context.profile());
      case BUDGET -> budgetFloors(shape, context);
    };
  }

  private FloorSource floorSource(CacheShape shape, CacheContext context) {
    if (widths.isPresent()) {
      return widths.get();
    }
    if (canSolve(context) && sensitivities(shape, context).isPresent()) {
      return FloorSource.BUDGET;
    }
    return LayerWidths.presentIn(context.profile()) ? FloorSource.PROFILE : FloorSource.SAME;
  }

  private int[] sameFloors(int layers) {
    int[] floors = new int[layers];
    Arrays.fill(floors, floorBits);
    return floors;
  }

  /** Returns the larger of the requested and the profile's bits for each layer. */
  private int[] profileFloors(int layers, Optional<Profile> profile) {
    int[] floors = LayerWidths.of(spec, profile, layers, FLOORS);
    Arrays.setAll(floors, layer -> Math.max(floorBits, floors[layer]));
    return floors;
  }

  /** The smallest budget for a context has no room for wider layers, and neither have 8 bits. */
  private boolean canSolve(CacheContext context) {
    return budgetSize.isPresent() && context.contextLimit() > 0 && FLOORS.contains(2 * floorBits);
  }

  private Optional<LayerSensitivities> sensitivities(CacheShape shape, CacheContext context) {
    return LayerSensitivities.find(context.profile(), keyScales.sensitivities(), shape.layers());
  }

  private int[] budgetFloors(CacheShape shape, CacheContext context) {
    LayerSensitivities found =
        sensitivities(shape, context)
            .orElseThrow(
                () ->
                    context.missingCalibration(
                        spec,
                        "sensitivities of layers",
                        "measure them",
                        "pmkvq:%d --keys %s"
                            .formatted(floorBits, keyScales.name().toLowerCase(Locale.ROOT))));
    if (!canSolve(context)) {
      return sameFloors(shape.layers());
    }
    LevelShapes levels = new LevelShapes(shape, keyScales);
    long narrow = shape.kvHeads() * levels.at(LevelShapes.level(floorBits)).bytes();
    long wide = shape.kvHeads() * levels.at(LevelShapes.level(2 * floorBits)).bytes();
    long budget = budget(shape, context).bytes();
    return new FloorAllocation(found, floorBits)
        .solve(
            count -> {
              long block = shape.layers() * narrow + count * (wide - narrow);
              int tokens = context.contextLimit();
              return CacheBudget.minimumBytes(shape, settings(Optional.empty()), tokens, block)
                  <= budget;
            });
  }

  @Override
  public Set<String> profileParts() {
    Set<String> parts = new HashSet<>(LayerSensitivities.PARTS);
    parts.add(SmoothingFactors.PART);
    parts.add(LayerWidths.PART);
    return parts;
  }
}
