package dev.kvasir.server;

import dev.kvasir.Model;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.server.answer.Admission;
import dev.kvasir.server.answer.Answers;
import dev.kvasir.server.http.Endpoints;
import dev.kvasir.server.http.MalformedRequests;
import dev.kvasir.server.openai.ServedModel;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import java.io.IOException;
import java.time.Duration;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * Serves a model over the OpenAI interface. Requests wait on virtual threads; what computes, at the
 * most as many sequences as are let in at once, has threads of its own. Closing it ends all
 * answers; the model stays open.
 */
public final class KvasirServer implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  /** Whoever reads nothing for this long is taken to be gone. */
  private static final Duration IDLE = Duration.ofSeconds(30);

  private static final int JETTY_THREADS = 16;

  private final Server server;
  private final ServerConnector connector;
  private final Answers answers;
  private final Runnable stopping;
  private boolean closed;

  private KvasirServer(
      Server server, ServerConnector connector, Answers answers, Runnable stopping) {
    this.server = server;
    this.connector = connector;
    this.answers = answers;
    this.stopping = stopping;
  }

  /**
   * Begins to serve.
   *
   * @throws InvalidInputException where the address cannot be listened at, or the memory holds no
   *     sequence at all
   */
  public static KvasirServer start(Model model, ServerOptions options, ServerLog log) {
    int context = Math.min(options.contextLimit(), model.config().contextLength());
    ServedModel served = ServedModel.of(model, options.kinds(), context);
    Metrics metrics = new Metrics();
    Admission admission =
        new Admission(
            bytesForSequences(model, options), options.mostSequences(), options.mostWaiting());
    Answers answers = new Answers(model, context, admission, metrics, log, options.timeout());
    Endpoints.Bounds bounds =
        new Endpoints.Bounds(options.access(), options.bodyBytes(), options.answerTokens());
    Endpoints.Wired wired = Endpoints.wire(served, answers, admission, metrics, log, bounds);
    Server server = newServer();
    ServerConnector connector = newConnector(server, options);
    server.addConnector(connector);
    server.setHandler(wired.router());
    server.setErrorHandler(new MalformedRequests());
    begin(server, options);
    return new KvasirServer(server, connector, answers, wired.stopping());
  }

  /** Tables that all sequences of a kind share stay once they are made. */
  private static long bytesForSequences(Model model, ServerOptions options) {
    long tables = options.kinds().stream().mapToLong(model::sharedCacheBytes).sum();
    long limit = model.cacheMemory().limit();
    if (tables >= limit) {
      throw new InvalidInputException(
          "the tables of the caches %s take %d bytes; the memory of all caches is %d"
              .formatted(options.kinds(), tables, limit));
    }
    return limit - tables;
  }

  private static Server newServer() {
    QueuedThreadPool threads = new QueuedThreadPool(JETTY_THREADS);
    threads.setName("kvasir-http");
    threads.setDaemon(true);
    threads.setVirtualThreadsExecutor(VirtualThreads.getDefaultVirtualThreadsExecutor());
    return new Server(threads);
  }

  private static ServerConnector newConnector(Server server, ServerOptions options) {
    HttpConfiguration http = new HttpConfiguration();
    http.setSendServerVersion(false);
    http.setSendDateHeader(true);
    // Names of models and conversations may hold any character.
    http.setUriCompliance(UriCompliance.LEGACY);
    ServerConnector connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
    connector.setHost(options.host());
    connector.setPort(options.port());
    connector.setIdleTimeout(IDLE.toMillis());
    return connector;
  }

  private static void begin(Server server, ServerOptions options) {
    try {
      server.start();
    } catch (IOException e) {
      stop(server);
      throw new InvalidInputException(
          "%s:%d cannot be listened at: %s"
              .formatted(options.host(), options.port(), e.getMessage()),
          e);
    } catch (Exception e) {
      stop(server);
      throw new IllegalStateException(e);
    }
  }

  private static void stop(Server server) {
    try {
      server.stop();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** The port that it listens at. */
  public int port() {
    return connector.getLocalPort();
  }

  /** Ends all answers with a reason, and waits until their clients have heard it. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    stopping.run();
    try {
      answers.stop(PATIENCE);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    stop(server);
  }
}
