package dev.kvasir.server.http;

import com.google.gson.JsonObject;
import dev.kvasir.chat.ServedModel;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

/** What gateways and balancers for other servers ask before they send requests. */
final class GatewayEndpoints {
  /** Of vLLM's production stack. */
  private static final String SLEEPING = "/is_sleeping";

  /** Of SGLang's gateway. */
  private static final List<String> MODEL_INFO = List.of("/model_info", "/get_model_info");

  private static final List<String> SERVER_INFO = List.of("/server_info", "/get_server_info");

  private final ServedModel served;
  private final int maxSequences;

  GatewayEndpoints(ServedModel served, int maxSequences) {
    this.served = served;
    this.maxSequences = maxSequences;
  }

  /** Lets one endpoint answer all of these for a server with several models. */
  static void addTo(Router router, Endpoint endpoint) {
    Stream.of(List.of(SLEEPING), MODEL_INFO, SERVER_INFO)
        .flatMap(List::stream)
        .forEach(path -> router.add("GET", path, endpoint));
  }

  void addTo(Router router) {
    router.add("GET", SLEEPING, GatewayEndpoints::isSleeping);
    MODEL_INFO.forEach(path -> router.add("GET", path, this::modelInfo));
    SERVER_INFO.forEach(path -> router.add("GET", path, this::serverInfo));
  }

  private static void isSleeping(Exchange exchange) throws IOException {
    JsonObject body = new JsonObject();
    body.addProperty("is_sleeping", false);
    exchange.json(200, body);
  }

  private void modelInfo(Exchange exchange) throws IOException {
    exchange.json(200, model());
  }

  private JsonObject model() {
    JsonObject body = new JsonObject();
    body.addProperty("model_path", served.name());
    body.addProperty("tokenizer_path", served.name());
    body.addProperty("served_model_name", served.name());
    body.addProperty("is_generation", true);
    return body;
  }

  private void serverInfo(Exchange exchange) throws IOException {
    JsonObject body = model();
    body.addProperty("context_length", served.contextLimit());
    body.addProperty("max_running_requests", maxSequences);
    exchange.json(200, body);
  }
}
