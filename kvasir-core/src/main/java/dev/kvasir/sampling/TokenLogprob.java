package dev.kvasir.sampling;

import java.util.List;

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

  /** An alternative token. */
  public record Alternative(int token, double logprob) {}
}
