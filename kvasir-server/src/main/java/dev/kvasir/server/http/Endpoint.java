package dev.kvasir.server.http;

import java.io.IOException;

/** Answers requests of one path. */
@FunctionalInterface
interface Endpoint {
  /**
   * @throws IOException where the client has gone
   * @throws dev.kvasir.server.api.ApiException to refuse
   */
  void handle(Exchange exchange) throws IOException, InterruptedException;
}
