package dev.kvasir.server.http;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.util.concurrent.TimeUnit;

/** Reports the state of the server: as JSON, as events while it changes, and as metrics. */
final class StateEndpoints {
  private static final long BUSY_MILLIS = 500;
  private static final long IDLE_MILLIS = 3000;

  private final Source source;
  private final Readiness readiness;

  /** The state of one model, or of several. */
  interface Source {
    JsonObject json(Exchange exchange);

    boolean isIdle();

    /** Returns all metrics in the Prometheus text format. */
    String metrics();
  }

  StateEndpoints(Source source, Readiness readiness) {
    this.source = source;
    this.readiness = readiness;
  }

  void addTo(Router router) {
    router
        .add("GET", "/metrics", this::metrics)
        .add("GET", "/kvasir/state", exchange -> exchange.json(200, source.json(exchange)))
        .add("GET", "/kvasir/events", this::events);
  }

  /** Adds what a port for probes has, which needs no key. */
  void addToProbes(Router probes) {
    probes.addPublic("GET", "/metrics", this::metrics);
  }

  private void metrics(Exchange exchange) throws IOException {
    exchange.text(200, "text/plain; version=0.0.4; charset=utf-8", source.metrics());
  }

  /** Streams the state until the client disconnects. */
  private void events(Exchange exchange) throws IOException, InterruptedException {
    EventStream stream = new EventStream(exchange);
    while (!readiness.isStopping()) {
      stream.data(source.json(exchange));
      long begin = System.nanoTime();
      do {
        TimeUnit.MILLISECONDS.sleep(BUSY_MILLIS);
      } while (source.isIdle()
          && !readiness.isStopping()
          && System.nanoTime() - begin < TimeUnit.MILLISECONDS.toNanos(IDLE_MILLIS));
    }
    stream.close();
  }
}
