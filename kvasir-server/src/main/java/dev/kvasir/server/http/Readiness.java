package dev.kvasir.server.http;

import com.google.gson.JsonObject;
import dev.kvasir.server.api.ApiException;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/** Whether the server accepts requests, and the probes that report it. */
final class Readiness {
  private final InFlightResponses inFlight;
  private final BooleanSupplier intact;
  private final AtomicBoolean draining = new AtomicBoolean();
  private final AtomicBoolean stopping = new AtomicBoolean();

  /**
   * @param intact returns false when only a restart helps
   */
  Readiness(InFlightResponses inFlight, BooleanSupplier intact) {
    this.inFlight = inFlight;
    this.intact = intact;
  }

  void addTo(Router router) {
    router
        .addPublic("GET", "/health", this::ready)
        .addPublic("GET", "/ping", this::ready)
        .addPublic("GET", "/readyz", this::ready)
        .addPublic("GET", "/livez", this::live);
  }

  /** Refuses further responses. */
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

  private void live(Exchange exchange) throws IOException {
    if (!intact.getAsBoolean()) {
      throw ApiException.internal();
    }
    JsonObject body = new JsonObject();
    body.addProperty("status", "ok");
    exchange.json(200, body);
  }
}
