package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import dev.kvasir.sampling.TokenLogprob;
import dev.kvasir.server.answer.CompletionEvent;
import dev.kvasir.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** An answer in the shape of one of the interfaces: piece by piece, or whole. */
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
   * @param model by the name that the client is to see
   */
  ResponseBuilder(
      String prefix, String object, String chunkObject, String model, Tokenizer tokenizer) {
    this.id = newId(prefix);
    this.object = object;
    this.chunkObject = chunkObject;
    this.model = model;
    this.tokenizer = tokenizer;
  }

  /** A name that nothing else has. */
  public static String newId(String prefix) {
    return prefix + UUID.randomUUID().toString().replace("-", "");
  }

  /** What a stream says of an event, in order; nothing where it says nothing. */
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

  /** The last chunk of a stream whose client wants to know what it took. */
  public final JsonObject usageChunk(int promptTokens) {
    JsonObject chunk = head(chunkObject);
    chunk.add("choices", new JsonArray());
    chunk.add("usage", Usage.of(promptTokens, finished));
    return chunk;
  }

  /** Takes an event of an answer that will be given whole. */
  public final void collect(CompletionEvent event) {
    if (event instanceof CompletionEvent.Done done) {
      finished.add(done);
    }
    collectChoice(event);
  }

  /** The whole answer, once every choice is done. */
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

  /** The choices that chunks of a stream have for an event. */
  abstract List<JsonObject> choiceChunks(CompletionEvent event);

  abstract void collectChoice(CompletionEvent event);

  abstract JsonArray choices();

  /**
   * @param likelihoods of its tokens; empty where they are not told
   */
  final JsonObject choice(int index, String finishReason, List<TokenLogprob> logprobs) {
    JsonObject choice = new JsonObject();
    choice.addProperty("index", index);
    choice.addProperty("finish_reason", finishReason);
    choice.add("logprobs", logprobs.isEmpty() ? JsonNull.INSTANCE : logprobs(logprobs, tokenizer));
    return choice;
  }

  /** Likelihoods in the shape of the interface. */
  abstract JsonObject logprobs(List<TokenLogprob> logprobs, Tokenizer tokenizer);
}
