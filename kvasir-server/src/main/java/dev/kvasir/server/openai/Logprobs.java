package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.TokenLogprob;
import dev.kvasir.text.Tokenizer;
import java.util.List;

/** Writes logprobs in the formats of the two endpoints. */
public final class Logprobs {
  private static final double IMPOSSIBLE = -9999;

  private Logprobs() {}

  /** Returns the format of chat completions. */
  public static JsonObject ofChat(List<TokenLogprob> tokens, Tokenizer tokenizer) {
    JsonArray content = new JsonArray();
    for (TokenLogprob one : tokens) {
      JsonObject token = token(one.token(), one.logprob(), tokenizer);
      JsonArray top = new JsonArray();
      one.top().forEach(other -> top.add(token(other.token(), other.logprob(), tokenizer)));
      token.add("top_logprobs", top);
      content.add(token);
    }
    JsonObject logprobs = new JsonObject();
    logprobs.add("content", content);
    return logprobs;
  }

  /** A token may be part of a character, so the object has its bytes as well as its text. */
  private static JsonObject token(int id, double logprob, Tokenizer tokenizer) {
    JsonObject token = new JsonObject();
    token.addProperty("token", text(id, tokenizer));
    token.addProperty("logprob", finite(logprob));
    JsonArray bytes = new JsonArray();
    for (byte value : tokenizer.tokenBytes(id)) {
      bytes.add(value & 0xFF);
    }
    token.add("bytes", bytes);
    return token;
  }

  static JsonObject ofText(List<TokenLogprob> tokens, Tokenizer tokenizer) {
    JsonArray texts = new JsonArray();
    JsonArray values = new JsonArray();
    JsonArray tops = new JsonArray();
    for (TokenLogprob one : tokens) {
      texts.add(text(one.token(), tokenizer));
      values.add(finite(one.logprob()));
      JsonObject top = new JsonObject();
      one.top()
          .forEach(
              other -> top.addProperty(text(other.token(), tokenizer), finite(other.logprob())));
      tops.add(top);
    }
    JsonObject logprobs = new JsonObject();
    logprobs.add("tokens", texts);
    logprobs.add("token_logprobs", values);
    logprobs.add("top_logprobs", tops);
    return logprobs;
  }

  /** JSON has no infinity; the OpenAI API uses this value instead. */
  private static double finite(double logprob) {
    return Math.max(IMPOSSIBLE, logprob);
  }

  private static String text(int id, Tokenizer tokenizer) {
    return tokenizer.decode(new int[] {id});
  }
}
