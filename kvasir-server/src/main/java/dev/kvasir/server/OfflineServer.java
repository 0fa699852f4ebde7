package dev.kvasir.server;

import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.http.Endpoints;
import dev.kvasir.server.http.InFlightResponses;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.server.watch.ServerObserver;
import dev.kvasir.server.watch.Telemetry;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpTester;
import org.eclipse.jetty.server.LocalConnector;
import org.eclipse.jetty.server.Server;

/**
 * Answers the requests of an HTTP server without a network. Several threads may ask at once, which
 * share batches and cached prefixes. The model stays open.
 */
public final class OfflineServer implements AutoCloseable {
  private static final long NO_TIMEOUT_DAYS = 10_000;

  private final Telemetry telemetry = Telemetry.open();
  private final ModelService service;
  private final Server server = new Server();
  private final LocalConnector connector = new LocalConnector(server);

  /** The response to a request. */
  public record Response(int status, String body) {}

  /**
   * Starts to accept requests.
   *
   * @throws dev.kvasir.error.InvalidInputException if the memory holds no sequence at all, or a
   *     store cannot be written to
   */
  public OfflineServer(LoadedModel model, ServerOptions options, ServerLog log) {
    Endpoints.Limits limits =
        new Endpoints.Limits(options::access, options.maxBodyBytes(), options.maxSequences());
    ModelService.Shared shared =
        new ModelService.Shared(
            new ServerObserver(new Metrics(), log, telemetry), limits, ModelService::responseStore);
    service = ModelService.open(model, options, shared, new InFlightResponses());
    connector.setIdleTimeout(0);
    server.addConnector(connector);
    server.setHandler(service.endpoints().http().router());
    try {
      server.start();
    } catch (Exception e) {
      service.stop();
      telemetry.close();
      throw new IllegalStateException(e);
    }
  }

  /** Posts a JSON body to a path and returns the response. */
  public Response post(String path, String body) throws Exception {
    byte[] content = body.getBytes(StandardCharsets.UTF_8);
    // A response of HTTP 1.0 ends with its connection, so it has no chunks.
    byte[] head =
        "POST %s HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            .formatted(path, content.length)
            .getBytes(StandardCharsets.UTF_8);
    ByteBuffer request = ByteBuffer.allocate(head.length + content.length);
    request.put(head).put(content).flip();
    HttpTester.Response response =
        HttpTester.parseResponse(
            connector.getResponse(request, false, NO_TIMEOUT_DAYS, TimeUnit.DAYS));
    return new Response(
        response.getStatus(), new String(response.getContentBytes(), StandardCharsets.UTF_8));
  }

  /** Ends what is in progress, and writes what a store does not have yet. */
  @Override
  public void close() {
    service.stop();
    try {
      server.stop();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    telemetry.close();
  }
}
