package dev.kvasir.model;

import dev.kvasir.model.Architecture.Bias;
import dev.kvasir.model.Architecture.HeadNorms;
import java.util.List;

/** What sets a family apart and no file of it says. */
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

  private ArchitectureTraits(RopeLayout ggufRopeLayout) {
    this.ggufRopeLayout = ggufRopeLayout;
  }

  /**
   * Norms before each part of a layer, gates by silu, every layer alike.
   *
   * @param ggufRopeLayout that conversion to GGUF leaves; Hugging Face files are all halves
   */
  static ArchitectureTraits of(RopeLayout ggufRopeLayout) {
    return new ArchitectureTraits(ggufRopeLayout);
  }

  /** What Hugging Face calls it besides. */
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

  /** Hugging Face files store what norms multiply by less one. */
  ArchitectureTraits normsMinusOne() {
    normsMinusOne = true;
    return this;
  }

  /** Gate and up projection are one tensor where a file has no tensor for the gate alone. */
  ArchitectureTraits fusedGates() {
    fusedGates = true;
    return this;
  }

  /** A window in a folder holds without {@code use_sliding_window}. */
  ArchitectureTraits slidingWindow() {
    slidingWindow = true;
    return this;
  }

  /** A window holds in all but the last of so many layers, where a file says nothing else. */
  ArchitectureTraits slidingWindowExceptEvery(int period) {
    localPeriod = period;
    return slidingWindow();
  }

  /**
   * Layers with a window turn without stretching.
   *
   * @param base theirs where a file says nothing; 0 for that of all layers
   */
  ArchitectureTraits unscaledLocalRope(double base) {
    unscaledLocalRope = true;
    localRopeBase = base;
    return this;
  }

  /** Attention has sinks, which are learned, and its output a bias. */
  ArchitectureTraits withSinks() {
    sinks = true;
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
}
