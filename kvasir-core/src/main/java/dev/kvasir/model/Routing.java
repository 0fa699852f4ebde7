package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

/**
 * How router logits select experts and their weights.
 *
 * @param normalized whether the weights of selected experts are divided by their sum
 * @param scale factor of the weights, after normalization
 */
public record Routing(Score score, Groups groups, boolean normalized, float scale) {
  /** What experts are selected by. */
  public enum Score {
    /** The softmax of all logits. */
    SOFTMAX,
    /** The sigmoid of each logit, {@code 1 / (1 + exp(-x))}. */
    SIGMOID,
    /** The logits; the weights are the softmax over the selected ones. */
    LOGIT
  }

  /**
   * Groups of consecutive experts. The best groups are selected first, then experts within them.
   *
   * @param scoresPerGroup number of best scores whose sum ranks a group
   */
  public record Groups(int count, int used, int scoresPerGroup) {
    /** A single group of all experts. */
    public static final Groups NONE = new Groups(1, 1, 1);
  }

  /** Returns softmax followed by top-k. */
  static Routing softmax(boolean normalized) {
    return new Routing(Score.SOFTMAX, Groups.NONE, normalized, 1);
  }

  /** Returns top-k followed by softmax. */
  static Routing softmaxAfterTopK() {
    return new Routing(Score.LOGIT, Groups.NONE, false, 1);
  }

  void check(String fileName, int experts, int used) {
    if (groups.count < 1 || experts % groups.count != 0) {
      throw new InvalidInputException(
          "%s: has %d groups of experts; expected a divisor of its %d experts"
              .formatted(fileName, groups.count, experts));
    }
    if (groups.used < 1 || groups.used > groups.count) {
      throw new InvalidInputException(
          "%s: uses %d groups of experts; expected 1 to %d"
              .formatted(fileName, groups.used, groups.count));
    }
    int within = experts / groups.count * groups.used;
    if (used > within) {
      throw new InvalidInputException(
          "%s: uses %d experts; expected at most the %d of the groups that it uses"
              .formatted(fileName, used, within));
    }
    if (!(scale > 0) || Float.isInfinite(scale)) {
      throw new InvalidInputException(
          "%s: scales the weights of experts by %s; expected more than 0"
              .formatted(fileName, scale));
    }
  }
}
