package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import dev.kvasir.TokenLogprob;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.chat.Ids;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.server.api.ResponseFormat;
import dev.kvasir.server.api.StreamEvent;
import dev.kvasir.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Builds the JSON of a completion for one endpoint, as chunks or as one object. */
public abstract sealed class ResponseBuilder implements ResponseFormat
    permits ChatResponseBuilder, CompletionResponseBuilder {
  private final String id;
  private final String object;
  private final String chunkObject;
  private final String model;
  private final Tokenizer tokenizer;
  private final boolean streamsUsage;
  private final long created = System.currentTimeMillis() / 1000;
  private final List<CompletionEvent.Done> finished = new ArrayList<>();
  private int promptTokens;

  /**
   * @param model the model name that the client sees
   */
  ResponseBuilder(
      String prefix,
      String object,
      String chunkObject,
      String model,
      Tokenizer tokenizer,
      Fields request) {
    this.id = Ids.newId(prefix);
    this.object = object;
    this.chunkObject = chunkObject;
    this.model = model;
    this.tokenizer = tokenizer;
    this.streamsUsage =
        request.object("stream_options").filter(o -> o.isTrue("include_usage")).isPresent();
  }

  @Override
  public final List<StreamEvent> begin(int tokens, Runnable cancel) {
    promptTokens = tokens;
    return List.of();
  }

  @Override
  public final List<StreamEvent> events(CompletionEvent event) {
    return chunks(event).stream().map(StreamEvent::of).toList();
  }

  @Override
  public final List<StreamEvent> end() {
    return streamsUsage
        ? List.of(StreamEvent.of(usageChunk()), StreamEvent.DONE)
        : List.of(StreamEvent.DONE);
  }

  @Override
  public final List<StreamEvent> fail(ApiException why) {
    return List.of(StreamEvent.of(why.json()));
  }

  /** Returns the chunks of a streamed event; empty if it has none. */
  private List<JsonObject> chunks(CompletionEvent event) {
    List<JsonObject> chunks = new ArrayList<>();
    for (JsonObject choice : choiceChunks(event)) {
      JsonObject chunk = head(chunkObject);
      JsonArray choices = new JsonArray();
      choices.add(choice);
      chunk.add("choices", choices);
      chunks.add(chunk);
    }
    if (event instanceof CompletionEvent.Done done) {
      finished.add(done);
      chunks.getLast().add("timings", Usage.timings(done));
    }
    return chunks;
  }

  private JsonObject usageChunk() {
    JsonObject chunk = head(chunkObject);
    chunk.add("choices", new JsonArray());
    chunk.add("usage", Usage.of(promptTokens, finished));
    return chunk;
  }

  @Override
  public final void collect(CompletionEvent event) {
    if (event instanceof CompletionEvent.Done done) {
      finished.add(done);
    }
    collectChoice(event);
  }

  @Override
  public final JsonObject build() {
    JsonObject body = head(object);
    body.add("choices", choices());
    body.add("usage", Usage.of(promptTokens, finished));
    body.add("timings", Usage.timings(finished.getFirst()));
    return body;
  }

  private JsonObject head(String kind) {
    JsonObject head = new JsonObject();
    head.addProperty("id", id);
    head.addProperty("object", kind);
    head.addProperty("created", created);
    head.addProperty("model", model);
    return head;
  }

  /** Returns the choices of the chunks of an event. */
  abstract List<JsonObject> choiceChunks(CompletionEvent event);

  abstract void collectChoice(CompletionEvent event);

  abstract JsonArray choices();

  /**
   * @param logprobs logprobs of its tokens; empty if not requested
   */
  final JsonObject choice(int index, String finishReason, List<TokenLogprob> logprobs) {
    JsonObject choice = new JsonObject();
    choice.addProperty("index", index);
    choice.addProperty("finish_reason", finishReason);
    choice.add("logprobs", logprobs.isEmpty() ? JsonNull.INSTANCE : logprobs(logprobs, tokenizer));
    return choice;
  }

  /** Returns the finish reason as the OpenAI API names it. */
  static String finishReason(CompletionEvent.Done done) {
    return done.finishReason().name().toLowerCase(Locale.ROOT);
  }

  /** Writes logprobs in the format of the endpoint. */
  abstract JsonObject logprobs(List<TokenLogprob> logprobs, Tokenizer tokenizer);
}
