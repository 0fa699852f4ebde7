package dev.kvasir.server.http;

import com.google.gson.JsonObject;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.responses.ResponseStore;
import java.io.IOException;

/** Returns, cancels and deletes the responses of the Responses API by their id. */
final class StoredResponses {
  private static final String PREFIX = ResponsesEndpoint.PATH + "/";
  private static final String CANCEL = "/cancel";
  private static final String INPUT_ITEMS = "/input_items";

  private final ResponseStore store;

  StoredResponses(ResponseStore store) {
    this.store = store;
  }

  void addTo(Router router) {
    router
        .add("GET", PREFIX, this::get)
        .add("POST", PREFIX, this::cancel)
        .add("DELETE", PREFIX, this::delete);
  }

  private static String id(Exchange exchange, String suffix) {
    String rest = exchange.path().substring(PREFIX.length());
    return rest.endsWith(suffix) ? rest.substring(0, rest.length() - suffix.length()) : rest;
  }

  private void get(Exchange exchange) throws IOException {
    boolean ofInput = exchange.path().endsWith(INPUT_ITEMS);
    String id = id(exchange, INPUT_ITEMS);
    String tenant = exchange.tenant();
    JsonObject found =
        (ofInput ? store.inputItems(tenant, id) : store.response(tenant, id))
            .orElseThrow(() -> missing(id));
    exchange.json(200, found);
  }

  private static ApiException missing(String id) {
    return ApiException.notFound("there is no stored response '%s'".formatted(id));
  }

  private void cancel(Exchange exchange) throws IOException {
    if (!exchange.path().endsWith(CANCEL)) {
      throw ApiException.notFound(
          "there is nothing at this path; a response is cancelled at %sID%s"
              .formatted(PREFIX, CANCEL));
    }
    String id = id(exchange, CANCEL);
    exchange.json(200, store.cancel(exchange.tenant(), id).orElseThrow(() -> missing(id)));
  }

  private void delete(Exchange exchange) throws IOException {
    String id = id(exchange, "");
    if (!store.delete(exchange.tenant(), id)) {
      throw missing(id);
    }
    JsonObject body = new JsonObject();
    body.addProperty("id", id);
    body.addProperty("object", "response");
    body.addProperty("deleted", true);
    exchange.json(200, body);
  }
}
