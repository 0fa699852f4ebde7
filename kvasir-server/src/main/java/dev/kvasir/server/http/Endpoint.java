package dev.kvasir.server.http;

import com.google.gson.JsonObject;
import dev.kvasir.server.api.ApiException;
import java.io.IOException;

/** Handles the requests of one path. */
@FunctionalInterface
interface Endpoint {
  /**
   * @throws IOException if the client has disconnected
   * @throws ApiException to respond with an error
   */
  void handle(Exchange exchange) throws IOException, InterruptedException;

  /** Returns the body of an error in the format of its API. */
  default JsonObject error(ApiException why) {
    return why.json();
  }
}
