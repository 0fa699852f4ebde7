package dev.kvasir.server.llamacpp;

import com.google.gson.JsonObject;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.ResponseFormat;
import dev.kvasir.server.api.StreamEvent;
import dev.kvasir.server.openai.Usage;
import java.util.List;

/** Writes a text completion as llama.cpp's server does. */
public final class InfillFormat implements ResponseFormat {
  private final String model;
  private final StringBuilder text = new StringBuilder();
  private int promptTokens;
  private CompletionEvent.Done done; // null until the end

  /**
   * @param model the model name that the client sees
   */
  public InfillFormat(String model) {
    this.model = model;
  }

  @Override
  public List<StreamEvent> begin(int tokens, Runnable cancel) {
    promptTokens = tokens;
    return List.of();
  }

  @Override
  public List<StreamEvent> events(CompletionEvent event) {
    switch (event) {
      case CompletionEvent.Text piece -> {
        text.append(piece.text());
        return List.of(StreamEvent.of(chunk(piece.text(), false)));
      }
      case CompletionEvent.Done last -> done = last;
      default -> {}
    }
    return List.of();
  }

  private static JsonObject chunk(String content, boolean stop) {
    JsonObject chunk = new JsonObject();
    chunk.addProperty("index", 0);
    chunk.addProperty("content", content);
    chunk.addProperty("stop", stop);
    chunk.addProperty("id_slot", 0);
    return chunk;
  }

  @Override
  public List<StreamEvent> end() {
    return List.of(StreamEvent.of(last("")));
  }

  @Override
  public List<StreamEvent> fail(ApiException why) {
    return List.of(StreamEvent.of(why.json()));
  }

  @Override
  public JsonObject build() {
    return last(text.toString());
  }

  private JsonObject last(String content) {
    JsonObject last = chunk(content, true);
    last.addProperty("model", model);
    last.addProperty("tokens_predicted", done.generation().generatedTokens());
    last.addProperty("tokens_evaluated", promptTokens);
    last.addProperty("tokens_cached", done.prefixHit().tokens());
    last.addProperty("truncated", false);
    last.addProperty("has_new_line", text.indexOf("\n") >= 0);
    last.addProperty("stop_type", stopType());
    last.addProperty("stopping_word", done.stopSequence().orElse(""));
    last.add("timings", Usage.timings(done));
    return last;
  }

  private String stopType() {
    return switch (done.finishReason()) {
      case LENGTH -> "limit";
      default -> done.stopSequence().isPresent() ? "word" : "eos";
    };
  }
}
