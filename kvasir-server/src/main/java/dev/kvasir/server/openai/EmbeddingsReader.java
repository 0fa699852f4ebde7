package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import dev.kvasir.KvasirException;
import dev.kvasir.runtime.LocalEmbedder;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.util.ArrayList;
import java.util.List;

/**
 * A request for embeddings.
 *
 * @param texts tokens of each text
 * @param dimensions of the vectors that the client wants
 * @param isBase64 whether vectors are bytes instead of numbers
 */
public record EmbeddingsReader(List<int[]> texts, int dimensions, boolean isBase64) {
  private static final int MAX_TEXTS = 2048;
  private static final String EXPECTED = "a text, token ids, or a list of them";

  public static EmbeddingsReader read(Fields request, LocalEmbedder embedder) {
    List<int[]> texts = texts(request, embedder);
    int dimensions =
        request.integer("dimensions", 1, embedder.dimensions()).orElse(embedder.dimensions());
    return new EmbeddingsReader(texts, dimensions, isBase64(request));
  }

  private static boolean isBase64(Fields request) {
    String format = request.string("encoding_format").orElse("float");
    if (!format.equals("float") && !format.equals("base64")) {
      throw ApiException.invalidField(
          "encoding_format", "encoding_format is '%s'; expected float or base64".formatted(format));
    }
    return format.equals("base64");
  }

  private static List<int[]> texts(Fields request, LocalEmbedder embedder) {
    JsonElement input =
        request.element("input").orElseThrow(() -> request.missing("input", EXPECTED));
    List<int[]> texts = new ArrayList<>();
    if (!input.isJsonArray() || isTokens(input.getAsJsonArray())) {
      texts.add(text(request, input, embedder));
      return texts;
    }
    JsonArray list = input.getAsJsonArray();
    if (list.isEmpty() || list.size() > MAX_TEXTS) {
      throw ApiException.invalidField(
          "input", "input has %d texts; expected 1 to %d".formatted(list.size(), MAX_TEXTS));
    }
    list.forEach(each -> texts.add(text(request, each, embedder)));
    return texts;
  }

  private static boolean isTokens(JsonArray list) {
    return !list.isEmpty() && TokenIds.isNumber(list.get(0));
  }

  private static int[] text(Fields request, JsonElement element, LocalEmbedder embedder) {
    if (element.isJsonArray() && isTokens(element.getAsJsonArray())) {
      int[] tokens = TokenIds.read(request, element.getAsJsonArray(), embedder.vocabulary());
      requireLength(tokens.length, embedder);
      return tokens;
    }
    if (!element.isJsonPrimitive() || !element.getAsJsonPrimitive().isString()) {
      throw request.wrong("input", element, EXPECTED);
    }
    try {
      return embedder.encode(element.getAsString());
    } catch (KvasirException e) {
      throw ApiException.ofField("input", e);
    }
  }

  private static void requireLength(int tokens, LocalEmbedder embedder) {
    if (tokens > embedder.maxTokens()) {
      throw ApiException.tooLong(
          "input",
          "input has %d tokens; the model embeds at most %d"
              .formatted(tokens, embedder.maxTokens()));
    }
  }
}
