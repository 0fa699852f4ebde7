package dev.kvasir.server.openai;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.kvasir.KvasirException;
import dev.kvasir.runtime.LocalReranker;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A request for the scores of documents, in the form of Jina and Cohere.
 *
 * @param pairs the query with each document
 * @param top results that the client wants
 * @param returnsDocuments whether results contain the documents
 */
public record RerankReader(
    List<LocalReranker.Pair> pairs, List<String> documents, int top, boolean returnsDocuments) {
  private static final int MAX_DOCUMENTS = 2048;

  public static RerankReader read(Fields request, LocalReranker reranker) {
    String query = request.string("query").orElseThrow(() -> request.missing("query", "a text"));
    List<String> documents = documents(request);
    int top = request.integer("top_n", 1, Integer.MAX_VALUE).orElse(documents.size());
    boolean returnsDocuments = request.isTrue("return_documents");
    List<LocalReranker.Pair> pairs = new ArrayList<>();
    try {
      documents.forEach(document -> pairs.add(reranker.encode(query, document)));
    } catch (KvasirException e) {
      throw ApiException.ofField("documents", e);
    }
    return new RerankReader(pairs, documents, top, returnsDocuments);
  }

  private static List<String> documents(Fields request) {
    JsonArray list =
        request
            .array("documents")
            .orElseThrow(() -> request.missing("documents", "a list of texts"));
    if (list.isEmpty() || list.size() > MAX_DOCUMENTS) {
      throw ApiException.invalidField(
          "documents",
          "documents has %d texts; expected 1 to %d".formatted(list.size(), MAX_DOCUMENTS));
    }
    List<String> documents = new ArrayList<>();
    for (JsonElement element : list) {
      JsonElement text = element instanceof JsonObject object ? object.get("text") : element;
      if (text == null || !text.isJsonPrimitive() || !text.getAsJsonPrimitive().isString()) {
        throw request.wrong("documents", element, "texts, or objects with a field text");
      }
      documents.add(text.getAsString());
    }
    return documents;
  }

  /** Returns the response, the best documents first. */
  public JsonObject response(String model, List<Float> scores) {
    JsonArray results = new JsonArray();
    IntStream.range(0, scores.size())
        .boxed()
        .sorted(Comparator.<Integer, Float>comparing(scores::get).reversed())
        .limit(top)
        .forEach(index -> results.add(result(index, scores.get(index))));
    int tokens = pairs.stream().mapToInt(pair -> pair.tokens().length).sum();
    JsonObject usage = new JsonObject();
    usage.addProperty("prompt_tokens", tokens);
    usage.addProperty("total_tokens", tokens);
    JsonObject body = new JsonObject();
    body.addProperty("object", "list");
    body.addProperty("model", model);
    body.add("usage", usage);
    body.add("results", results);
    return body;
  }

  private JsonObject result(int index, float score) {
    JsonObject result = new JsonObject();
    result.addProperty("index", index);
    result.addProperty("relevance_score", score);
    if (returnsDocuments) {
      JsonObject document = new JsonObject();
      document.addProperty("text", documents.get(index));
      result.add("document", document);
    }
    return result;
  }
}
