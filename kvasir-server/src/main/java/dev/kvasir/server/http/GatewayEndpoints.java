package dev.kvasir.server.http;

import com.google.gson.JsonObject;
import dev.kvasir.chat.ServedModel;
import java.io.IOException;

/** What gateways and balancers for other servers ask before they send requests. */
final class GatewayEndpoints {
  private final ServedModel served;
  private final int maxSequences;

  GatewayEndpoints(ServedModel served, int maxSequences) {
    this.served = served;
    this.maxSequences = maxSequences;
  }

  void addTo(Router router) {
    router
        .add("GET", "/is_sleeping", GatewayEndpoints::isSleeping) // of vLLM's production stack
        .add("GET", "/model_info", this::modelInfo) // of SGLang's gateway
        .add("GET", "/get_model_info", this::modelInfo)
        .add("GET", "/server_info", this::serverInfo)
        .add("GET", "/get_server_info", this::serverInfo);
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
