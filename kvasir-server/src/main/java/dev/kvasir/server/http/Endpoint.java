package dev.kvasir.server.http;

import java.io.IOException;

/** Handles the requests of one path. */
@FunctionalInterface
interface Endpoint {
  /**
   * @throws IOException if the client has disconnected
   * @throws dev.kvasir.server.api.ApiException to respond with an error
   */
  void handle(Exchange exchange) throws IOException, InterruptedException;
}
