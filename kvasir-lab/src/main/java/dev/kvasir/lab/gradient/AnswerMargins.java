package dev.kvasir.lab.gradient;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.lab.task.Seeds;
import java.util.Arrays;
import java.util.OptionalDouble;
import java.util.stream.IntStream;

/**
 * The margins of correct answer tokens over all others. A margin m is the logit of the correct
 * token minus the log-sum-exp of the others; above 0, the token has more than half of the
 * probability. Each positive margin adds {@code m / max(m, 2)} with a random sign, so that the
 * cross terms of two tokens in outer products of gradients average to zero. The divisor counts as a
 * constant. Tokens that the model gets wrong do not count.
 */
public final class AnswerMargins implements Objective {
  /** Larger margins weigh less, because they can shrink further before the answer changes. */
  static final double SAFE = 2;

  private final boolean[] marks; // (tokens)
  private final long seed;

  /**
   * @param marks which tokens belong to an answer, one for each token of the text; the first token
   *     is not predicted and never counts
   * @param seed seed of the signs; every position has its own generator
   */
  public AnswerMargins(boolean[] marks, long seed) {
    this.marks = marks.clone();
    this.seed = seed;
  }

  @Override
  public int[] positions(int[] tokens) {
    if (marks.length != tokens.length) {
      throw new IllegalArgumentException(
          "there are %d marks for %d tokens; expected as many"
              .formatted(marks.length, tokens.length));
    }
    return IntStream.range(0, tokens.length - 1).filter(t -> marks[t + 1]).toArray();
  }

  /** The gradient of a margin is 1 for the correct token, minus the softmax over the others. */
  @Override
  public OptionalDouble replaceWithGradients(
      Kernels kernels, float[] logits, int at, int vocabulary, int[] tokens, int position) {
    int right = at + tokens[position + 1];
    float wanted = logits[right];
    logits[right] = Float.NEGATIVE_INFINITY;
    float most = kernels.rows().maximum(logits, at, vocabulary);
    logits[right] = most; // a finite number for the kernel
    kernels.rows().exponentiate(logits, at, vocabulary, most);
    logits[right] = 0;
    double others = sum(logits, at, vocabulary);
    double margin = wanted - most - Math.log(others);
    if (!(margin > 0)) {
      Arrays.fill(logits, at, at + vocabulary, 0);
      return OptionalDouble.empty();
    }
    double slope = sign(position) / Math.max(margin, SAFE);
    kernels.rows().scale(logits, at, vocabulary, (float) (-slope / others));
    logits[right] = (float) slope;
    return OptionalDouble.of(slope * margin);
  }

  private static double sum(float[] x, int at, int count) {
    double sum = 0;
    for (int i = at; i < at + count; i++) {
      sum += x[i];
    }
    return sum;
  }

  int sign(int position) {
    return Seeds.of(seed, "answer-margins", 0, position).nextBoolean() ? 1 : -1;
  }
}
