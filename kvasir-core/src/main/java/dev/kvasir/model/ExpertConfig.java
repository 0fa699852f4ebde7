package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

/**
 * The sizes of a mixture of experts.
 *
 * @param count experts of a layer
 * @param used experts that a token chooses
 * @param width of an expert's feed-forward part
 * @param sharedWidth of the expert that every token has; 0 for none
 * @param sharedGate whether a gate decides how much of the shared expert counts
 * @param leadingDense layers before the first that has experts
 */
public record ExpertConfig(
    int count,
    int used,
    int width,
    int sharedWidth,
    boolean sharedGate,
    int leadingDense,
    Routing routing,
    Activation activation) {
  /** More than any model has; what is planned for each must stay small. */
  private static final int MAX_EXPERTS = 1024;

  /** Whether that layer has experts. */
  public boolean hasExperts(int layer) {
    return layer >= leadingDense;
  }

  /** Weights of all layers that a token does not pass. */
  public long inactiveWeights(int hidden, int layers) {
    long expert = 3L * hidden * width;
    return (layers - leadingDense) * (count - used) * expert;
  }

  /** The widest vectors of a token's in a layer with experts. */
  long widest(int hidden) {
    long ofChosen = (long) used * Math.max(hidden, width);
    return Math.max(ofChosen, Math.max(count, sharedWidth));
  }

  /** The widest feed-forward part with one gate that tokens pass. */
  int gatedWidth(int feedForward) {
    return leadingDense > 0 ? Math.max(feedForward, sharedWidth) : sharedWidth;
  }

  /** Refuses sizes that no mixture can have, naming the file they came from. */
  void check(String fileName, int layers) {
    between(fileName, "the number of experts", count, 1, MAX_EXPERTS);
    between(fileName, "the number of experts a token uses", used, 1, count);
    between(fileName, "the feed-forward size of an expert", width, 1, Integer.MAX_VALUE);
    between(fileName, "the feed-forward size of shared experts", sharedWidth, 0, Integer.MAX_VALUE);
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
