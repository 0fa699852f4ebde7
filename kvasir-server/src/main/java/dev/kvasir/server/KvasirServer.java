package dev.kvasir.server;

import dev.kvasir.Model;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.server.http.Endpoints;
import dev.kvasir.server.http.MalformedRequestHandler;
import dev.kvasir.server.watch.ServerLog;
import java.io.IOException;
import java.net.BindException;
import java.time.Duration;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/**
 * An HTTP server for one model, compatible with the OpenAI API. Requests wait on virtual threads;
 * each running sequence has a platform thread. Closing the server ends all completions; the model
 * stays open.
 */
public final class KvasirServer implements AutoCloseable {
  /** A client that reads nothing for this long counts as disconnected. */
  private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(30);

  /** How long closing waits for clients to read the end of their response. */
  private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(5);

  private static final int JETTY_THREADS = 16;

  private final Server server;
  private final ServerConnector connector;
  private final ChatService chatService;
  private final Endpoints.HttpService httpService;
  private boolean closed;

  private KvasirServer(
      Server server,
      ServerConnector connector,
      ChatService chatService,
      Endpoints.HttpService httpService) {
    this.server = server;
    this.connector = connector;
    this.chatService = chatService;
    this.httpService = httpService;
  }

  /**
   * Starts a server.
   *
   * @throws InvalidInputException if the address cannot be bound, the memory holds no sequence at
   *     all, or a store cannot be written to
   */
  public static KvasirServer start(Model model, ServerOptions options, ServerLog log) {
    ChatService chatService = ChatService.of(model, options, log);
    Endpoints.Limits limits = new Endpoints.Limits(options.access(), options.maxBodyBytes());
    Endpoints.HttpService httpService =
        Endpoints.create(
            chatService.served(),
            chatService.queue(),
            chatService.reader(),
            chatService.admission(),
            chatService.metrics(),
            chatService.store(),
            log,
            limits);
    Server server = newServer();
    ServerConnector connector = newConnector(server, options);
    server.addConnector(connector);
    server.setHandler(httpService.router());
    server.setErrorHandler(new MalformedRequestHandler());
    try {
      listen(server, options);
    } catch (RuntimeException e) {
      chatService.close();
      throw e;
    }
    return new KvasirServer(server, connector, chatService, httpService);
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
    // Names of models and conversations may contain any character.
    http.setUriCompliance(UriCompliance.LEGACY);
    ServerConnector connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
    connector.setHost(options.host());
    connector.setPort(options.port());
    connector.setIdleTimeout(IDLE_TIMEOUT.toMillis());
    return connector;
  }

  /** Returns the operating system's reason; Jetty's own message repeats the address. */
  private static String reason(IOException e) {
    return e.getCause() instanceof BindException cause ? cause.getMessage() : e.getMessage();
  }

  private static void listen(Server server, ServerOptions options) {
    try {
      server.start();
    } catch (IOException e) {
      stop(server);
      throw new InvalidInputException(
          "%s:%d cannot be listened at: %s".formatted(options.host(), options.port(), reason(e)),
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

  ChatService chatService() {
    return chatService;
  }

  /** Returns the port that the server listens on. */
  public int port() {
    return connector.getLocalPort();
  }

  /** Ends all completions with an error, and waits until their clients have received it. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    httpService.onStop().run();
    chatService.close();
    try {
      httpService.inFlight().await(SHUTDOWN_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    stop(server);
  }
}
