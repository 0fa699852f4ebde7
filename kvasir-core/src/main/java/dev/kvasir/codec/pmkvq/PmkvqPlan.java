package dev.kvasir.codec.pmkvq;

import dev.kvasir.codec.Budget;
import dev.kvasir.codec.BudgetSize;
import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CachePlan;
import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWidths;
import dev.kvasir.codec.Lookups;
import dev.kvasir.codec.ShrinkStep;
import dev.kvasir.codec.SpecText;
import dev.kvasir.codec.basis.Smoothing;
import dev.kvasir.codec.uniform.UniformKeys;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.profile.Profile;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Uniform codes that begin with 16 bits and shrink under a budget.
 *
 * @param spec as typed
 * @param floorBits what no layer goes below
 * @param size empty for the least that holds the context
 * @param isPooled whether pages keep their width until the memory of all sequences is used up
 * @param step which pages become narrower when they do not fit
 * @param keyScales what a scale of keys belongs to
 * @param widths where floors of layers come from; empty for the profile's where it has any
 * @param smooths whether keys by token are divided by the profile's factors, where it has any;
 *     those by channel have nothing to gain
 * @param birth the width that a page is coded to when it is packed
 */
public record PmkvqPlan(
    String spec,
    int floorBits,
    Optional<BudgetSize> size,
    boolean isPooled,
    int window,
    int sinks,
    RightShift shift,
    ShrinkStep step,
    KeyScales keyScales,
    Optional<LayerWidths.Source> widths,
    boolean smooths,
    Lookups lookups,
    Birth birth)
    implements CachePlan {
  static final SortedSet<Integer> FLOORS = new TreeSet<>(Set.of(2, 4, 8));
  private static final int DEFAULT_WINDOW = 128;

  /** With fewer, what fills up vectors makes a page of 8 bits larger than one of 16. */
  private static final int LEAST_CHANNELS = 8;

  private static final int DEFAULT_SINKS = 1;

  public static PmkvqPlan of(SpecText spec) {
    spec.requireKeys(
        "budget",
        "window",
        "sinks",
        "shift",
        "shrink",
        "keys",
        "widths",
        "smoothing",
        "lookup",
        "born");
    KeyScales keyScales = spec.choice("keys", KeyScales.CHANNEL);
    if (keyScales == KeyScales.CHANNEL && spec.has("smoothing") && spec.isOn("smoothing")) {
      throw spec.wrong("smoothing=on is for keys=token; keys by channel have a scale each");
    }
    return new PmkvqPlan(
        spec.text(),
        spec.bits(FLOORS),
        BudgetSize.in(spec),
        BudgetSize.isPooled(spec),
        spec.tokens("window", DEFAULT_WINDOW),
        spec.tokens("sinks", DEFAULT_SINKS),
        spec.choice("shift", RightShift.EQUIVALENT),
        spec.choice("shrink", ShrinkStep.PAGE),
        keyScales,
        spec.has("widths")
            ? Optional.of(spec.choice("widths", LayerWidths.Source.SAME))
            : Optional.empty(),
        keyScales == KeyScales.TOKEN && spec.isOn("smoothing"),
        spec.choice("lookup", Lookups.EXACT),
        spec.choice("born", Birth.NARROW));
  }

  /** Values that are keys cannot be divided by factors of keys, and are not. */
  @Override
  public boolean takesValuesInKeys() {
    return true;
  }

  @Override
  public CacheSettings settings(CacheShape shape) {
    return settings(shape, CacheHost.unknown());
  }

  @Override
  public CacheSettings foretelling(CacheShape shape, CacheHost host) {
    return settings(shape, host);
  }

  @Override
  public CacheSettings settings(CacheShape shape, CacheHost host) {
    UniformKeys.requirePackable(spec, shape);
    int narrowest = Math.min(shape.keyDim(), shape.valueDim());
    if (narrowest < LEAST_CHANNELS) {
      throw new InvalidInputException(
          "the cache '%s' cannot shrink heads of %d channels; expected at least %d"
              .formatted(spec, narrowest, LEAST_CHANNELS));
    }
    PmkvqCodec codec =
        new PmkvqCodec(
            shape,
            floors(host.profile(), shape.layers()),
            keyScales,
            smooths && !shape.hasValuesInKeys() ? Smoothing.of(host.profile(), shape) : List.of(),
            shift,
            lookups,
            birth);
    CacheSettings settings = new CacheSettings(Precision.F16, sinks, window, Optional.of(codec));
    return isPooled ? settings : settings.within(budget(shape, host));
  }

  private Budget budget(CacheShape shape, CacheHost host) {
    return size.map(own -> own.budget(spec, shape, host, step))
        .orElseGet(
            () -> Budget.leastFor(spec, BudgetSize.requireLimit(spec, host), step, host.crew()));
  }

  /** The profile's widths, where they are above what was asked for. */
  private int[] floors(Optional<Profile> profile, int layers) {
    int[] floors = new int[layers];
    Arrays.fill(floors, floorBits);
    if (hasWidthsOf(profile)) {
      int[] found = LayerWidths.of(spec, profile, layers, FLOORS);
      Arrays.setAll(floors, layer -> Math.max(floorBits, found[layer]));
    }
    return floors;
  }

  /** Whether layers have floors of their own. */
  public boolean hasWidthsOf(Optional<Profile> profile) {
    LayerWidths.Source source =
        widths.orElse(
            LayerWidths.areIn(profile) ? LayerWidths.Source.PROFILE : LayerWidths.Source.SAME);
    return source == LayerWidths.Source.PROFILE;
  }

  @Override
  public Set<String> profileParts() {
    return Set.of(Smoothing.PART, LayerWidths.PART);
  }
}
