package dev.kvasir.server.openai;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.SamplingOptions;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads the sampling options of a request; absent fields have the library's defaults. */
final class Sampling {
  private Sampling() {}

  static SamplingOptions read(Fields request, int vocabulary) {
    SamplingOptions usual = SamplingOptions.defaults();
    SamplingOptions read =
        new SamplingOptions(
            request.number("repetition_penalty", 0.01, 100).orElse(usual.repetitionPenalty()),
            request.number("presence_penalty", -2, 2).orElse(usual.presencePenalty()),
            request.number("frequency_penalty", -2, 2).orElse(usual.frequencyPenalty()),
            request.object("logit_bias").map(bias -> biases(bias.json())).orElse(Map.of()),
            request.number("temperature", 0, 100).orElse(usual.temperature()),
            request.integer("top_k", 0, Integer.MAX_VALUE).orElse(usual.topK()),
            Math.max(Double.MIN_NORMAL, request.number("top_p", 0, 1).orElse(usual.topP())),
            request.number("min_p", 0, 1).orElse(usual.minP()),
            request.longInteger("seed", Long.MIN_VALUE, Long.MAX_VALUE).orElse(usual.seed()));
    try {
      read.checkTokens(vocabulary);
    } catch (IllegalArgumentException e) {
      throw ApiException.invalidField("logit_bias", e.getMessage());
    }
    return read;
  }

  private static Map<Integer, Float> biases(JsonObject object) {
    Fields fields = Fields.of(object, "logit_bias");
    Map<Integer, Float> biases = new LinkedHashMap<>();
    for (Map.Entry<String, JsonElement> entry : object.entrySet()) {
      double bias = fields.number(entry.getKey(), -100, 100).orElse(0);
      biases.put(token(fields, entry), (float) bias);
    }
    return biases;
  }

  private static int token(Fields fields, Map.Entry<String, JsonElement> entry) {
    try {
      return Integer.parseUnsignedInt(entry.getKey()) & Integer.MAX_VALUE;
    } catch (NumberFormatException e) {
      throw fields.wrong(entry.getKey(), entry.getValue(), "the ids of tokens as names");
    }
  }
}
