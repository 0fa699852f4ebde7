package dev.kvasir.server.openai;

import dev.kvasir.sampling.TokenLikelihood;
import dev.kvasir.server.api.Fields;
import java.util.OptionalInt;

/** Whether a request wants to know how likely tokens were, and of how many others. */
final class Likelihoods {
  private static final int MOST = TokenLikelihood.MOST_ALTERNATIVES;

  private Likelihoods() {}

  static OptionalInt ofChat(Fields request) {
    OptionalInt top = request.integer("top_logprobs", 0, MOST);
    return request.isTrue("logprobs") ? OptionalInt.of(top.orElse(0)) : OptionalInt.empty();
  }

  static OptionalInt ofText(Fields request) {
    return request.integer("logprobs", 0, MOST);
  }
}
