package dev.kvasir.server.openai;

import com.google.gson.JsonObject;
import dev.kvasir.Generation;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.chat.PrefixHit;
import java.util.List;

/** Writes token counts and timings of a completion. */
public final class Usage {
  private static final double NANOS_PER_MILLI = 1e6;

  private Usage() {}

  static JsonObject of(int promptTokens, List<CompletionEvent.Done> finished) {
    int generated = finished.stream().mapToInt(end -> end.generation().generatedTokens()).sum();
    // Hits of further choices on the first one's prompt are no saving for the client.
    int cachedTokens =
        finished.stream()
            .filter(end -> end.choice() == 0)
            .mapToInt(end -> end.prefixHit().tokens())
            .findFirst()
            .orElse(0);
    JsonObject details = new JsonObject();
    details.addProperty("cached_tokens", cachedTokens);
    JsonObject usage = new JsonObject();
    usage.addProperty("prompt_tokens", promptTokens);
    usage.addProperty("completion_tokens", generated);
    usage.addProperty("total_tokens", promptTokens + generated);
    usage.add("prompt_tokens_details", details);
    usage.add("completion_tokens_details", drafts(finished));
    return usage;
  }

  /** Returns the tokens that speculation proposed, in the fields for predicted outputs. */
  private static JsonObject drafts(List<CompletionEvent.Done> finished) {
    int accepted = 0;
    int rejected = 0;
    for (CompletionEvent.Done done : finished) {
      accepted += done.generation().drafts().acceptedTokens();
      rejected += done.generation().drafts().rejectedTokens();
    }
    JsonObject details = new JsonObject();
    details.addProperty("accepted_prediction_tokens", accepted);
    details.addProperty("rejected_prediction_tokens", rejected);
    return details;
  }

  /** Returns the fields of llama.cpp's server, which user interfaces display, and two more. */
  public static JsonObject timings(CompletionEvent.Done done) {
    Generation generation = done.generation();
    JsonObject timings = new JsonObject();
    PrefixHit prefixHit = done.prefixHit();
    timings.addProperty("cache_n", prefixHit.tokens());
    if (prefixHit.tokens() > 0) {
      timings.addProperty("cache_place", prefixHit.place());
      timings.addProperty("cache_ms", prefixHit.fetchNanos() / NANOS_PER_MILLI);
    }
    timings.addProperty("prompt_n", generation.promptTokens());
    timings.addProperty("prompt_ms", generation.promptNanos() / NANOS_PER_MILLI);
    timings.addProperty("prompt_per_second", generation.promptTokensPerSecond());
    timings.addProperty("predicted_n", generation.generatedTokens());
    timings.addProperty("predicted_ms", generation.generationNanos() / NANOS_PER_MILLI);
    timings.addProperty("predicted_per_second", generation.generatedTokensPerSecond());
    if (generation.drafts().proposedTokens() > 0) {
      timings.addProperty("draft_n", generation.drafts().proposedTokens());
      timings.addProperty("draft_n_accepted", generation.drafts().acceptedTokens());
    }
    return timings;
  }
}
