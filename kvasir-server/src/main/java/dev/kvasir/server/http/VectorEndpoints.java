package dev.kvasir.server.http;

import com.google.gson.JsonPrimitive;
import dev.kvasir.Embedder.Embedding;
import dev.kvasir.chat.VectorService;
import dev.kvasir.runtime.LocalEmbedder;
import dev.kvasir.runtime.LocalReranker;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.openai.EmbeddingsFormat;
import dev.kvasir.server.openai.EmbeddingsReader;
import dev.kvasir.server.openai.RerankReader;
import dev.kvasir.server.watch.Metrics;
import java.io.IOException;
import java.util.List;

/** Embeddings of texts, and scores of documents. */
final class VectorEndpoints {
  private final VectorService service;
  private final String model;
  private final Metrics metrics;
  private final InFlightResponses inFlight;

  /**
   * @param model its name in responses
   */
  VectorEndpoints(
      VectorService service, String model, Metrics metrics, InFlightResponses inFlight) {
    this.service = service;
    this.model = model;
    this.metrics = metrics;
    this.inFlight = inFlight;
  }

  void addTo(Router router) {
    for (String version : List.of("/v1", "")) {
      router.add("POST", version + "/embeddings", this::embed);
      router.add("POST", version + "/rerank", this::rerank);
    }
    router.add("POST", "/v2/rerank", this::rerank);
  }

  private void embed(Exchange exchange) throws IOException, InterruptedException {
    LocalEmbedder embedder =
        service
            .embedder()
            .orElseThrow(
                () ->
                    ApiException.invalid(
                        "this server makes no embeddings: its model is a reranker, or runs on a"
                            + " device that keeps hidden states"));
    EmbeddingsReader request = EmbeddingsReader.read(exchange.body(), embedder);
    try (InFlightResponses.InFlight _ = inFlight.begin()) {
      List<Embedding> embeddings =
          LongWork.run(exchange, mayGoOn -> service.embed(request.texts(), mayGoOn));
      metrics.promptRead(embeddings.stream().mapToInt(Embedding::tokens).sum());
      String name = new JsonPrimitive(model).toString();
      exchange.json(200, EmbeddingsFormat.json(name, request, embeddings));
    }
  }

  private void rerank(Exchange exchange) throws IOException, InterruptedException {
    LocalReranker reranker =
        service
            .reranker()
            .orElseThrow(
                () ->
                    ApiException.invalid(
                        "this server's model is no reranker; expected an encoder with a"
                            + " classification head, or Qwen3-Reranker"));
    RerankReader request = RerankReader.read(exchange.body(), reranker);
    try (InFlightResponses.InFlight _ = inFlight.begin()) {
      List<Float> scores =
          LongWork.run(exchange, mayGoOn -> service.score(request.pairs(), mayGoOn));
      metrics.promptRead(request.pairs().stream().mapToInt(pair -> pair.tokens().length).sum());
      exchange.json(200, request.response(model, scores));
    }
  }
}
