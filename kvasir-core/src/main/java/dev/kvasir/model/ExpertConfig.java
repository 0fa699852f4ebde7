package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

/**
 * Sizes of a mixture of experts.
 *
 * @param count experts of a layer
 * @param used experts that a token is routed to
 * @param width feed-forward width of an expert
 * @param sharedWidth feed-forward width of the shared expert; 0 for none
 * @param sharedGate whether a gate weighs the shared expert
 * @param leadingDense number of leading layers without experts
 * @param latent width of the vectors that routed experts read and write; 0 for that of the model
 */
public record ExpertConfig(
    int count,
    int used,
    int width,
    int sharedWidth,
    boolean sharedGate,
    int leadingDense,
    Routing routing,
    Activation activation,
    int latent) {
  /** More than any model has; bounds the work of planning tensors. */
  private static final int MAX_EXPERTS = 1024;

  /** Creates sizes of experts that read and write vectors of the model's width. */
  public ExpertConfig(
      int count,
      int used,
      int width,
      int sharedWidth,
      boolean sharedGate,
      int leadingDense,
      Routing routing,
      Activation activation) {
    this(count, used, width, sharedWidth, sharedGate, leadingDense, routing, activation, 0);
  }

  /** Returns these sizes with experts of narrower vectors; 0 for those of the model. */
  ExpertConfig withLatent(int value) {
    return new ExpertConfig(
        count, used, width, sharedWidth, sharedGate, leadingDense, routing, activation, value);
  }

  /** Returns the width of the vectors that routed experts read and write. */
  int vectors(int hidden) {
    return latent == 0 ? hidden : latent;
  }

  public boolean hasExperts(int layer) {
    return layer >= leadingDense;
  }

  /** Returns these sizes with a number of leading layers without experts. */
  ExpertConfig withLeadingDense(int layers) {
    return new ExpertConfig(
        count, used, width, sharedWidth, sharedGate, layers, routing, activation, latent);
  }

  /** Returns the sizes of some consecutive layers. */
  ExpertConfig withLayers(LayerRange range) {
    return withLeadingDense(Math.clamp((long) leadingDense - range.first(), 0, range.count()));
  }

  /**
   * Returns the number of weights, over all layers, that a token does not use.
   *
   * @param layers those with a feed-forward part
   */
  public long inactiveWeights(int hidden, int layers) {
    long expert = (activation.isGated() ? 3L : 2L) * vectors(hidden) * width;
    return (layers - leadingDense) * (count - used) * expert;
  }

  /** Returns the width of a token's widest vectors in a layer with experts. */
  long widest(int hidden) {
    long ofChosen = (long) used * Math.max(vectors(hidden), width);
    return Math.max(Math.max(ofChosen, latent), Math.max(count, sharedWidth));
  }

  /** Returns the width of the widest dense feed-forward layer or shared expert. */
  int gatedWidth(int feedForward) {
    return leadingDense > 0 ? Math.max(feedForward, sharedWidth) : sharedWidth;
  }

  /** Checks the sizes; errors name the file they came from. */
  void check(String fileName, int layers) {
    between(fileName, "the number of experts", count, 1, MAX_EXPERTS);
    between(fileName, "the number of experts a token uses", used, 1, count);
    between(fileName, "the feed-forward size of an expert", width, 1, Integer.MAX_VALUE);
    between(fileName, "the feed-forward size of shared experts", sharedWidth, 0, Integer.MAX_VALUE);
    between(fileName, "the size of the vectors of experts", latent, 0, Integer.MAX_VALUE);
    between(fileName, "the number of leading dense layers", leadingDense, 0, layers);
    routing.check(fileName, count, used);
  }

  private static void between(String fileName, String what, int value, int least, int most) {
    if (value < least || value > most) {
      throw new InvalidInputException(
          "%s: %s is %d; expected %d to %d".formatted(fileName, what, value, least, most));
    }
  }
}
