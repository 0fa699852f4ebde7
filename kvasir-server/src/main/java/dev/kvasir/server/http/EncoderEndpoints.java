package dev.kvasir.server.http;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.chat.VectorService;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.Metrics.Gauge;
import dev.kvasir.server.watch.ServerLog;
import java.io.IOException;
import java.util.List;

/** The routes of a server whose model is an encoder: it generates no text. */
public final class EncoderEndpoints {
  private static final List<String> GENERATING =
      List.of(
          "/v1/chat/completions",
          "/chat/completions",
          "/v1/completions",
          "/completions",
          "/v1/responses",
          "/v1/messages",
          "/infill");

  private final VectorService service;
  private final String model;
  private final Metrics metrics;

  private EncoderEndpoints(VectorService service, String model, Metrics metrics) {
    this.service = service;
    this.model = model;
    this.metrics = metrics;
  }

  /**
   * @param model its name in responses
   */
  public static Endpoints.HttpService create(
      VectorService service,
      String model,
      Metrics metrics,
      ServerLog log,
      Endpoints.Limits limits) {
    EncoderEndpoints all = new EncoderEndpoints(service, model, metrics);
    InFlightResponses inFlight = new InFlightResponses();
    Readiness readiness = new Readiness(inFlight, () -> true);
    Router router =
        new Router(
            limits.access(),
            metrics,
            log,
            limits.maxBodyBytes(),
            service.admission()::retrySeconds);
    new VectorEndpoints(service, model, metrics, inFlight).addTo(router);
    GENERATING.forEach(path -> router.add("POST", path, all::refuse));
    router
        .add("GET", "/v1/models", all::models)
        .add("GET", "/models", all::models)
        .add("GET", "/metrics", all::metrics);
    readiness.addTo(router);
    Router open = Endpoints.probeRouter(metrics, log);
    open.addPublic("GET", "/metrics", all::metrics);
    readiness.addTo(open);
    return new Endpoints.HttpService(router, open, readiness::drain, readiness::stop, inFlight);
  }

  private void refuse(Exchange exchange) {
    throw ApiException.invalid(
        "this server's model is an encoder and generates no text; it serves %s"
            .formatted(service.embedder().isPresent() ? "/v1/embeddings" : "/v1/rerank"));
  }

  private void models(Exchange exchange) throws IOException {
    JsonArray capabilities = new JsonArray();
    capabilities.add(service.embedder().isPresent() ? "embeddings" : "rerank");
    JsonObject one = new JsonObject();
    one.addProperty("id", model);
    one.addProperty("object", "model");
    one.addProperty("created", 0);
    one.addProperty("owned_by", "kvasir");
    int tokens =
        service
            .embedder()
            .map(each -> each.maxTokens())
            .orElseGet(() -> service.reranker().orElseThrow().maxTokens());
    one.addProperty("context_length", tokens);
    one.addProperty("max_model_len", tokens);
    one.add("capabilities", capabilities);
    JsonArray data = new JsonArray();
    data.add(one);
    JsonObject body = new JsonObject();
    body.addProperty("object", "list");
    body.add("data", data);
    exchange.json(200, body);
  }

  private void metrics(Exchange exchange) throws IOException {
    List<Gauge> gauges =
        List.of(
            new Gauge(
                "kvasir_sequences_running",
                "gauge",
                "Running sequences.",
                "",
                service.admission().running()),
            new Gauge(
                "kvasir_requests_waiting",
                "gauge",
                "Queued requests.",
                "",
                service.admission().queued()));
    exchange.text(200, "text/plain; version=0.0.4; charset=utf-8", metrics.text(gauges));
  }
}
