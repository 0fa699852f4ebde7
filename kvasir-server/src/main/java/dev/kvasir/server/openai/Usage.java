package dev.kvasir.server.openai;

import com.google.gson.JsonObject;
import dev.kvasir.Generation;
import dev.kvasir.server.answer.AnswerEvent;
import dev.kvasir.server.answer.Known;
import java.util.List;

/** What an answer took, in the fields that clients look for. */
final class Usage {
  private static final double NANOS_PER_MILLI = 1e6;

  private Usage() {}

  static JsonObject of(int promptTokens, List<AnswerEvent.Done> ends) {
    int generated = ends.stream().mapToInt(end -> end.generation().generatedTokens()).sum();
    // What further choices did not read again is no saving of the client's.
    int known =
        ends.stream()
            .filter(end -> end.choice() == 0)
            .mapToInt(end -> end.known().tokens())
            .findFirst()
            .orElse(0);
    JsonObject details = new JsonObject();
    details.addProperty("cached_tokens", known);
    JsonObject usage = new JsonObject();
    usage.addProperty("prompt_tokens", promptTokens);
    usage.addProperty("completion_tokens", generated);
    usage.addProperty("total_tokens", promptTokens + generated);
    usage.add("prompt_tokens_details", details);
    return usage;
  }

  /** In the fields of llama.cpp's server, which user interfaces show, and two of our own. */
  static JsonObject timings(AnswerEvent.Done done) {
    Generation made = done.generation();
    JsonObject timings = new JsonObject();
    Known known = done.known();
    timings.addProperty("cache_n", known.tokens());
    if (known.tokens() > 0) {
      timings.addProperty("cache_place", known.place());
      timings.addProperty("cache_ms", known.nanos() / NANOS_PER_MILLI);
    }
    timings.addProperty("prompt_n", made.promptTokens());
    timings.addProperty("prompt_ms", made.promptNanos() / NANOS_PER_MILLI);
    timings.addProperty("prompt_per_second", made.promptTokensPerSecond());
    timings.addProperty("predicted_n", made.generatedTokens());
    timings.addProperty("predicted_ms", made.generationNanos() / NANOS_PER_MILLI);
    timings.addProperty("predicted_per_second", made.generatedTokensPerSecond());
    return timings;
  }
}
