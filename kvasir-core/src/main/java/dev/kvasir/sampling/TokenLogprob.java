package dev.kvasir.sampling;

import java.util.List;

/**
 * How likely a picked token was to the model itself: of its logits as they came, before penalties,
 * bias, constraint and temperature.
 *
 * @param logprob the natural logarithm of its probability
 * @param top the likeliest tokens, the likeliest first, equal ones by id
 */
public record TokenLogprob(int token, double logprob, List<Alternative> top) {
  public static final int MAX_ALTERNATIVES = 20;

  public TokenLogprob {
    top = List.copyOf(top);
  }

  /** A token that might have come. */
  public record Alternative(int token, double logprob) {}
}
