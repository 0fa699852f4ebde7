package dev.kvasir.model;

import dev.kvasir.model.Architecture.Bias;
import dev.kvasir.model.Architecture.HeadNorms;
import java.util.List;

/** What sets a family apart and no file of it says. */
final class Traits {
  private final RopeLayout ggufRopeLayout;
  private List<String> otherNames = List.of();
  private Bias attentionBias = Bias.IF_PRESENT;
  private HeadNorms headNorms = HeadNorms.NONE;
  private NormPlaces norms = NormPlaces.BEFORE;
  private Activation activation = Activation.SILU;
  private boolean normsLessOne;
  private boolean fusedGates;
  private boolean slides;
  private int localPeriod;
  private boolean localsUnstretched;
  private double localBase;
  private boolean sinks;

  private Traits(RopeLayout ggufRopeLayout) {
    this.ggufRopeLayout = ggufRopeLayout;
  }

  /**
   * Norms before each part of a layer, gates by silu, every layer alike.
   *
   * @param ggufRopeLayout that conversion to GGUF leaves; Hugging Face files are all halves
   */
  static Traits of(RopeLayout ggufRopeLayout) {
    return new Traits(ggufRopeLayout);
  }

  /** What Hugging Face calls it besides. */
  Traits alsoCalled(String... names) {
    otherNames = List.of(names);
    return this;
  }

  Traits with(Bias value) {
    attentionBias = value;
    return this;
  }

  Traits with(HeadNorms value) {
    headNorms = value;
    return this;
  }

  Traits with(NormPlaces value) {
    norms = value;
    return this;
  }

  Traits with(Activation value) {
    activation = value;
    return this;
  }

  /** Hugging Face files store what norms multiply by less one. */
  Traits normsLessOne() {
    normsLessOne = true;
    return this;
  }

  /** Gate and up projection are one tensor where a file has no tensor for the gate alone. */
  Traits fusedGates() {
    fusedGates = true;
    return this;
  }

  /** A window in a folder holds without {@code use_sliding_window}. */
  Traits slides() {
    slides = true;
    return this;
  }

  /** A window holds in all but the last of so many layers, where a file says nothing else. */
  Traits slidesBut(int period) {
    localPeriod = period;
    return slides();
  }

  /**
   * Layers with a window turn without stretching.
   *
   * @param base theirs where a file says nothing; 0 for that of all layers
   */
  Traits localsUnstretched(double base) {
    localsUnstretched = true;
    localBase = base;
    return this;
  }

  /** Attention has sinks, which are learned, and its output a bias. */
  Traits withSinks() {
    sinks = true;
    return this;
  }

  RopeLayout ggufRopeLayout() {
    return ggufRopeLayout;
  }

  List<String> otherNames() {
    return otherNames;
  }

  Bias attentionBias() {
    return attentionBias;
  }

  HeadNorms headNorms() {
    return headNorms;
  }

  NormPlaces norms() {
    return norms;
  }

  Activation activation() {
    return activation;
  }

  boolean storesNormsLessOne() {
    return normsLessOne;
  }

  boolean mayFuseGates() {
    return fusedGates;
  }

  boolean slidesUnasked() {
    return slides;
  }

  int localPeriod() {
    return localPeriod;
  }

  boolean stretchesLocals() {
    return !localsUnstretched;
  }

  double localBase() {
    return localBase;
  }

  boolean hasSinks() {
    return sinks;
  }
}
