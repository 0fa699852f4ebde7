package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import dev.kvasir.sampling.TokenLikelihood;
import dev.kvasir.server.answer.AnswerEvent;
import dev.kvasir.text.Tokenizer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** An answer in the shape of one of the interfaces: piece by piece, or whole. */
public abstract sealed class Reply permits ChatReply, TextReply {
  private final String id;
  private final String object;
  private final String chunkObject;
  private final String model;
  private final Tokenizer tokenizer;
  private final long created = System.currentTimeMillis() / 1000;
  private final List<AnswerEvent.Done> ends = new ArrayList<>();

  /**
   * @param model by the name that the client is to see
   */
  Reply(String prefix, String object, String chunkObject, String model, Tokenizer tokenizer) {
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
  public final List<JsonObject> chunks(AnswerEvent event) {
    List<JsonObject> chunks = new ArrayList<>();
    for (JsonObject choice : pieces(event)) {
      JsonObject chunk = head(chunkObject);
      JsonArray choices = new JsonArray();
      choices.add(choice);
      chunk.add("choices", choices);
      chunks.add(chunk);
    }
    if (event instanceof AnswerEvent.Done done) {
      ends.add(done);
      chunks.getLast().add("timings", Usage.timings(done));
    }
    return chunks;
  }

  /** The last chunk of a stream whose client wants to know what it took. */
  public final JsonObject usageChunk(int promptTokens) {
    JsonObject chunk = head(chunkObject);
    chunk.add("choices", new JsonArray());
    chunk.add("usage", Usage.of(promptTokens, ends));
    return chunk;
  }

  /** Takes an event of an answer that will be given whole. */
  public final void collect(AnswerEvent event) {
    if (event instanceof AnswerEvent.Done done) {
      ends.add(done);
    }
    gather(event);
  }

  /** The whole answer, once every choice is done. */
  public final JsonObject whole(int promptTokens) {
    JsonObject body = head(object);
    body.add("choices", choices());
    body.add("usage", Usage.of(promptTokens, ends));
    body.add("timings", Usage.timings(ends.getFirst()));
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
  abstract List<JsonObject> pieces(AnswerEvent event);

  abstract void gather(AnswerEvent event);

  abstract JsonArray choices();

  /**
   * @param likelihoods of its tokens; empty where they are not told
   */
  final JsonObject choice(int index, String reason, List<TokenLikelihood> likelihoods) {
    JsonObject choice = new JsonObject();
    choice.addProperty("index", index);
    choice.addProperty("finish_reason", reason);
    choice.add(
        "logprobs", likelihoods.isEmpty() ? JsonNull.INSTANCE : logprobs(likelihoods, tokenizer));
    return choice;
  }

  /** Likelihoods in the shape of the interface. */
  abstract JsonObject logprobs(List<TokenLikelihood> likelihoods, Tokenizer tokenizer);
}
