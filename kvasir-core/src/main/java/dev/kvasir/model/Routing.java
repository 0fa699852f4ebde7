package dev.kvasir.model;

import dev.kvasir.error.InvalidInputException;

/**
 * How a router's logits become a choice of experts and their weights.
 *
 * @param normalized whether the weights of the chosen are divided by their sum
 * @param scale times the weights, after that
 */
public record Routing(Score score, Groups groups, boolean normalized, float scale) {
  /** What experts are chosen by. */
  public enum Score {
    /** The softmax of all logits. */
    SOFTMAX,
    /** Each logit by itself, {@code 1 / (1 + exp(-x))}. */
    SIGMOID,
    /** The logits; the softmax of the chosen are their weights. */
    LOGIT
  }

  /**
   * Experts in groups of neighbours, of which the best are chosen first; then experts within them.
   *
   * @param judges how many of its best scores a group is judged by: the sum of them
   */
  public record Groups(int count, int used, int scoresPerGroup) {
    /** All experts are one group. */
    public static final Groups NONE = new Groups(1, 1, 1);
  }

  /** Softmax, then the largest. */
  static Routing softmax(boolean normalized) {
    return new Routing(Score.SOFTMAX, Groups.NONE, normalized, 1);
  }

  /** The largest logits, then softmax. */
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
