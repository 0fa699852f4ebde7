package dev.kvasir.server.openai;

import dev.kvasir.TokenLogprob;
import dev.kvasir.server.api.Fields;
import java.util.OptionalInt;

/** Reads how many top logprobs a request asks for, if any. */
final class LogprobOptions {
  private static final int MAX_TOP_LOGPROBS = TokenLogprob.MAX_ALTERNATIVES;

  private LogprobOptions() {}

  static OptionalInt ofChat(Fields request) {
    OptionalInt top = request.integer("top_logprobs", 0, MAX_TOP_LOGPROBS);
    return request.isTrue("logprobs") ? OptionalInt.of(top.orElse(0)) : OptionalInt.empty();
  }

  static OptionalInt ofText(Fields request) {
    return request.integer("logprobs", 0, MAX_TOP_LOGPROBS);
  }
}
