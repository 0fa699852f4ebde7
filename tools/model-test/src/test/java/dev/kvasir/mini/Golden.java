package dev.kvasir.mini;

import com.google.gson.Gson;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.runtime.GenerationSettings;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.ModelSession;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A prompt with the results of the reference implementation, in 32-bit floats from bf16 weights.
 *
 * @param topIds the likeliest tokens after the prompt, in descending order
 * @param nll mean negative log likelihood of the prompt's tokens except the first
 * @param greedy continuation of the prompt
 */
record Golden(
    String text,
    int[] ids,
    int[] topIds,
    float[] topLogits,
    double nll,
    int[] greedy,
    String greedyText) {

  static List<Golden> all() throws IOException {
    try (InputStream stream = Golden.class.getResourceAsStream("golden.json")) {
      JsonArray array =
          JsonParser.parseReader(new InputStreamReader(stream, StandardCharsets.UTF_8))
              .getAsJsonArray();
      List<Golden> goldens = new ArrayList<>();
      for (JsonElement element : array) {
        goldens.add(of(element.getAsJsonObject()));
      }
      return goldens;
    }
  }

  private static Golden of(JsonObject json) {
    Gson gson = new Gson();
    return new Golden(
        json.get("text").getAsString(),
        gson.fromJson(json.get("ids"), int[].class),
        gson.fromJson(json.get("last_top_ids"), int[].class),
        gson.fromJson(json.get("last_top_logits"), float[].class),
        json.get("nll").getAsDouble(),
        gson.fromJson(json.get("greedy"), int[].class),
        json.get("greedy_text").getAsString());
  }

  /** A model's results for the prompt. */
  record Measured(double nll, float[] lastLogits) {
    int likeliest() {
      int best = 0;
      for (int i = 1; i < lastLogits.length; i++) {
        if (lastLogits[i] > lastLogits[best]) {
          best = i;
        }
      }
      return best;
    }
  }

  Measured measure(LoadedModel model) {
    Batch batch = new Batch();
    try (KvCache cache = CacheSpec.DEFAULT.newCache(model.config().cacheShape())) {
      for (int id : ids) {
        batch.add(cache, id, true);
      }
      model.forward(batch);
    }
    double sum = 0;
    for (int i = 0; i + 1 < ids.length; i++) {
      sum += surprise(batch, i, ids[i + 1]);
    }
    float[] last = new float[batch.vocabulary()];
    System.arraycopy(batch.logits(), batch.logitsAt(ids.length - 1), last, 0, last.length);
    return new Measured(sum / (ids.length - 1), last);
  }

  /** Returns the negative log probability of a token. */
  private static double surprise(Batch batch, int row, int token) {
    int at = batch.logitsAt(row);
    double most = Double.NEGATIVE_INFINITY;
    for (int i = 0; i < batch.vocabulary(); i++) {
      most = Math.max(most, batch.logits()[at + i]);
    }
    double sum = 0;
    for (int i = 0; i < batch.vocabulary(); i++) {
      sum += Math.exp(batch.logits()[at + i] - most);
    }
    return most + Math.log(sum) - batch.logits()[at + token];
  }

  /** Returns a model's greedy continuation, limited to the golden's token count. */
  String continuation(LoadedModel model) {
    try (ModelSession session = model.newSession()) {
      GenerationSettings options = GenerationSettings.greedy().withMaxTokens(greedy.length);
      return session.generate(ids, options, piece -> {}).text();
    }
  }

  /** Returns the golden's text up to the end-of-text token, which has id 0. */
  String expectedContinuation() {
    int end = greedyText.indexOf("<|endoftext|>");
    return end < 0 ? greedyText : greedyText.substring(0, end);
  }

  boolean endsItself() {
    return greedy[greedy.length - 1] == 0;
  }
}
