package dev.kvasir.server.http;

import dev.kvasir.server.models.LoadedService;

/** A loaded model that requests are routed to. */
public interface RoutedModel extends LoadedService {
  Endpoints endpoints();

  @Override
  default boolean isIdle() {
    return endpoints().inFlight().isIdle();
  }
}
