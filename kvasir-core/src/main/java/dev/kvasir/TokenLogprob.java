package dev.kvasir;

import java.util.List;
import java.util.OptionalInt;

/**
 * The logprob of a sampled token in the model's own distribution, before penalties, bias,
 * constraint and temperature.
 *
 * @param logprob the natural logarithm of its probability
 * @param top the most likely tokens in descending order, ties by id
 */
public record TokenLogprob(int token, double logprob, List<Alternative> top) {
  public static final int MAX_ALTERNATIVES = 20;

  public TokenLogprob {
    top = List.copyOf(top);
  }

  /** Rejects a number of alternatives that is not possible. */
  static void checkTop(OptionalInt topLogprobs) {
    int top = topLogprobs.orElse(0);
    if (top < 0 || top > MAX_ALTERNATIVES) {
      throw new IllegalArgumentException(
          "topLogprobs is %d; expected 0 to %d".formatted(top, MAX_ALTERNATIVES));
    }
  }

  /** An alternative token. */
  public record Alternative(int token, double logprob) {}
}
