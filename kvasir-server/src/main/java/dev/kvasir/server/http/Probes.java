package dev.kvasir.server.http;

import com.google.gson.JsonObject;
import dev.kvasir.server.api.ApiException;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Whether the process lives, and whether it shall get requests. */
final class Probes {
  private final InFlightResponses inFlight;
  private final AtomicBoolean draining = new AtomicBoolean();
  private final AtomicBoolean stopping = new AtomicBoolean();

  Probes(InFlightResponses inFlight) {
    this.inFlight = inFlight;
  }

  void addTo(Router router) {
    router
        .addPublic("GET", "/health", this::ready)
        .addPublic("GET", "/readyz", this::ready)
        .addPublic("GET", "/livez", Probes::live);
  }

  /** Refuses further requests. */
  void drain() {
    draining.set(true);
    inFlight.drain();
  }

  void stop() {
    stopping.set(true);
  }

  boolean isStopping() {
    return stopping.get();
  }

  private void ready(Exchange exchange) throws IOException {
    if (draining.get() || stopping.get()) {
      throw ApiException.stopping();
    }
    live(exchange);
  }

  private static void live(Exchange exchange) throws IOException {
    JsonObject body = new JsonObject();
    body.addProperty("status", "ok");
    exchange.json(200, body);
  }
}
