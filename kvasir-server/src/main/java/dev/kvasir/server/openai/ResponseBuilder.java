package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import dev.kvasir.TokenLogprob;
import dev.kvasir.chat.CompletionEvent;
import dev.kvasir.chat.Ids;
import dev.kvasir.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Builds the JSON of a completion for one endpoint, as chunks or as one object. */
public abstract sealed class ResponseBuilder
    permits ChatResponseBuilder, CompletionResponseBuilder {
  private final String id;
  private final String object;
  private final String chunkObject;
  private final String model;
  private final Tokenizer tokenizer;
  private final long created = System.currentTimeMillis() / 1000;
  private final List<CompletionEvent.Done> finished = new ArrayList<>();

  /**
   * @param model the model name that the client sees
   */
  ResponseBuilder(
      String prefix, String object, String chunkObject, String model, Tokenizer tokenizer) {
    this.id = Ids.newId(prefix);
    this.object = object;
    this.chunkObject = chunkObject;
    this.model = model;
    this.tokenizer = tokenizer;
  }

  /** Returns the chunks of a streamed event; empty if it has none. */
  public final List<JsonObject> chunks(CompletionEvent event) {
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

  /** Returns the last chunk of a stream whose client requested usage. */
  public final JsonObject usageChunk(int promptTokens) {
    JsonObject chunk = head(chunkObject);
    chunk.add("choices", new JsonArray());
    chunk.add("usage", Usage.of(promptTokens, finished));
    return chunk;
  }

  /** Adds an event of a completion that is not streamed. */
  public final void collect(CompletionEvent event) {
    if (event instanceof CompletionEvent.Done done) {
      finished.add(done);
    }
    collectChoice(event);
  }

  /** Returns the complete response after every choice is done. */
  public final JsonObject build(int promptTokens) {
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
