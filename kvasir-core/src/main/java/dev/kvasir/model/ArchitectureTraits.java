package dev.kvasir.model;

import dev.kvasir.model.Architecture.Bias;
import dev.kvasir.model.Architecture.HeadNorms;
import java.util.List;
import java.util.Map;

/** Traits of a family that its files do not state. */
final class ArchitectureTraits {
  private final RopeLayout ggufRopeLayout;
  private List<String> aliases = List.of();
  private Bias attentionBias = Bias.IF_PRESENT;
  private HeadNorms headNorms = HeadNorms.NONE;
  private NormPlacement norms = NormPlacement.PRE;
  private Activation activation = Activation.SILU;
  private boolean normsMinusOne;
  private boolean fusedGates;
  private boolean slidingWindow;
  private int localPeriod;
  private boolean unscaledLocalRope;
  private double localRopeBase;
  private boolean sinks;
  private boolean gatedQueries;
  private boolean ungated;
  private boolean unscaledScores;
  private boolean normalizedValues;
  private boolean denseBesideExperts;
  private Map<String, String> ggufNames = Map.of();
  private Map<String, String> huggingFaceNames = Map.of();

  private ArchitectureTraits(RopeLayout ggufRopeLayout) {
    this.ggufRopeLayout = ggufRopeLayout;
  }

  /**
   * Returns the default traits: pre-norms, SiLU gates, all layers alike.
   *
   * @param ggufRopeLayout layout after conversion to GGUF; Hugging Face files all use halves
   */
  static ArchitectureTraits of(RopeLayout ggufRopeLayout) {
    return new ArchitectureTraits(ggufRopeLayout);
  }

  /** Sets further names used by Hugging Face. */
  ArchitectureTraits withAliases(String... names) {
    aliases = List.of(names);
    return this;
  }

  ArchitectureTraits with(Bias value) {
    attentionBias = value;
    return this;
  }

  ArchitectureTraits with(HeadNorms value) {
    headNorms = value;
    return this;
  }

  ArchitectureTraits with(NormPlacement value) {
    norms = value;
    return this;
  }

  ArchitectureTraits with(Activation value) {
    activation = value;
    return this;
  }

  /** Marks Hugging Face files as storing norm weights minus one. */
  ArchitectureTraits normsMinusOne() {
    normsMinusOne = true;
    return this;
  }

  /** Fuses gate and up projection into one tensor if a file has no separate gate tensor. */
  ArchitectureTraits fusedGates() {
    fusedGates = true;
    return this;
  }

  /** Applies the window of a Hugging Face folder even without {@code use_sliding_window}. */
  ArchitectureTraits slidingWindow() {
    slidingWindow = true;
    return this;
  }

  /**
   * Applies a window to all but the last of every {@code period} layers, unless a file states
   * otherwise.
   */
  ArchitectureTraits slidingWindowExceptEvery(int period) {
    localPeriod = period;
    return slidingWindow();
  }

  /**
   * Leaves RoPE unscaled in layers with a window.
   *
   * @param base their base unless a file states one; 0 for that of all layers
   */
  ArchitectureTraits unscaledLocalRope(double base) {
    unscaledLocalRope = true;
    localRopeBase = base;
    return this;
  }

  /** Marks attention as having learned sinks and an output bias. */
  ArchitectureTraits withSinks() {
    sinks = true;
    return this;
  }

  /** Marks query projections as having a gate of the head's output behind every query head. */
  ArchitectureTraits gatedQueries() {
    gatedQueries = true;
    return this;
  }

  /** Leaves scores undivided by the root of the head size. */
  ArchitectureTraits unscaledScores() {
    unscaledScores = true;
    return this;
  }

  /**
   * Divides the values of each head by their root mean square. Without a projection of values,
   * those of keys are taken.
   */
  ArchitectureTraits normalizedValues() {
    normalizedValues = true;
    return this;
  }

  /** Marks layers with experts as having a dense feed-forward part next to them. */
  ArchitectureTraits denseBesideExperts() {
    denseBesideExperts = true;
    return this;
  }

  /** Marks feed-forward layers as having no gates. */
  ArchitectureTraits ungated() {
    ungated = true;
    return this;
  }

  /** Sets the names in GGUF files that differ from those of most families. */
  ArchitectureTraits withGgufNames(Map<String, String> names) {
    ggufNames = names;
    return this;
  }

  /** Sets the names in Hugging Face folders that differ from those of most families. */
  ArchitectureTraits withHuggingFaceNames(Map<String, String> names) {
    huggingFaceNames = names;
    return this;
  }

  RopeLayout ggufRopeLayout() {
    return ggufRopeLayout;
  }

  List<String> aliases() {
    return aliases;
  }

  Bias attentionBias() {
    return attentionBias;
  }

  HeadNorms headNorms() {
    return headNorms;
  }

  NormPlacement norms() {
    return norms;
  }

  Activation activation() {
    return activation;
  }

  boolean storesNormsMinusOne() {
    return normsMinusOne;
  }

  boolean mayFuseGates() {
    return fusedGates;
  }

  boolean slidesByDefault() {
    return slidingWindow;
  }

  int localPeriod() {
    return localPeriod;
  }

  boolean scalesLocalRope() {
    return !unscaledLocalRope;
  }

  double localRopeBase() {
    return localRopeBase;
  }

  boolean hasSinks() {
    return sinks;
  }

  boolean isUngated() {
    return ungated;
  }

  boolean hasUnscaledScores() {
    return unscaledScores;
  }

  boolean hasNormalizedValues() {
    return normalizedValues;
  }

  boolean hasDenseBesideExperts() {
    return denseBesideExperts;
  }

  boolean hasGatedQueries() {
    return gatedQueries;
  }

  Map<String, String> ggufNames() {
    return ggufNames;
  }

  Map<String, String> huggingFaceNames() {
    return huggingFaceNames;
  }
}
