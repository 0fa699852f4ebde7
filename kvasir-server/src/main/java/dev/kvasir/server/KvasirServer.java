package dev.kvasir.server;

import dev.kvasir.KvCacheSpec;
import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.chat.ChatService;
import dev.kvasir.chat.ServedModel;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.http.Endpoints;
import dev.kvasir.server.http.MalformedRequestHandler;
import dev.kvasir.server.http.ProbePort;
import dev.kvasir.server.responses.ResponseArchive;
import dev.kvasir.server.responses.ResponseStore;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.server.watch.ServerObserver;
import dev.kvasir.store.prefix.ConversationStore;
import java.io.IOException;
import java.net.BindException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.Handler;
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
  private final Optional<ServerConnector> probes;
  private final ChatService chatService;
  private final Optional<ConversationStore> store;
  private final Endpoints.HttpService httpService;
  private boolean closed;

  private KvasirServer(
      Server server,
      ServerConnector connector,
      Optional<ServerConnector> probes,
      ChatService chatService,
      Optional<ConversationStore> store,
      Endpoints.HttpService httpService) {
    this.server = server;
    this.connector = connector;
    this.probes = probes;
    this.chatService = chatService;
    this.store = store;
    this.httpService = httpService;
  }

  /**
   * Starts a server on the loopback interface, which logs to standard error.
   *
   * @param port port to listen on; 0 for any free port
   * @param caches caches that requests may select, the first one by default; none for half
   *     precision
   * @throws dev.kvasir.KvasirException if the port cannot be bound or the memory holds no sequence
   */
  public static KvasirServer start(Model model, int port, KvCacheSpec... caches) {
    ServerOptions defaults = ServerOptions.defaults();
    ServerOptions options =
        caches.length == 0
            ? defaults
            : defaults.withCacheSpecs(Stream.of(caches).map(CacheSpec::of).toList());
    return start(
        LoadedModel.of(model),
        options.withAddress(defaults.host(), port),
        new ServerLog(System.err));
  }

  /**
   * Starts a server.
   *
   * @throws InvalidInputException if the address cannot be bound, the memory holds no sequence at
   *     all, or a store cannot be written to
   */
  public static KvasirServer start(LoadedModel model, ServerOptions options, ServerLog log) {
    Metrics metrics = new Metrics();
    ChatService chatService =
        new ChatService(model, options.serving(), new ServerObserver(metrics, log));
    Optional<ConversationStore> store = openStore(chatService, options, log);
    Endpoints.Limits limits =
        new Endpoints.Limits(
            options.access().listeningOn(options.host()),
            options.maxBodyBytes(),
            options.maxSequences());
    Endpoints.HttpService httpService =
        Endpoints.create(chatService, metrics, store, responseStore(store), log, limits);
    Server server = newServer();
    ServerConnector connector = newConnector(server, options.host(), options.port());
    server.addConnector(connector);
    Optional<ServerConnector> probes =
        options.metricsPort().stream()
            .mapToObj(port -> newConnector(server, options.host(), port))
            .findFirst();
    probes.ifPresent(server::addConnector);
    server.setHandler(
        probes
            .<Handler>map(port -> new ProbePort(port, httpService.probes(), httpService.router()))
            .orElse(httpService.router()));
    server.setErrorHandler(new MalformedRequestHandler());
    try {
      listen(server, options);
    } catch (RuntimeException e) {
      chatService.close();
      store.ifPresent(ConversationStore::close);
      throw e;
    }
    return new KvasirServer(server, connector, probes, chatService, store, httpService);
  }

  private static Optional<ConversationStore> openStore(
      ChatService chatService, ServerOptions options, ServerLog log) {
    ServedModel served = chatService.served();
    return options.stores().isEmpty()
        ? Optional.empty()
        : Optional.of(
            ConversationStore.open(
                served.model(),
                options.stores(),
                served.cacheSpecs(),
                served.contextLimit(),
                log::note));
  }

  private static ResponseStore responseStore(Optional<ConversationStore> store) {
    return new ResponseStore(
        ResponseStore.MAX_BYTES,
        store.<ResponseArchive>map(ResponseTexts::new).orElse(ResponseArchive.NONE));
  }

  private static Server newServer() {
    QueuedThreadPool threads = new QueuedThreadPool(JETTY_THREADS);
    threads.setName("kvasir-http");
    threads.setDaemon(true);
    threads.setVirtualThreadsExecutor(VirtualThreads.getDefaultVirtualThreadsExecutor());
    return new Server(threads);
  }

  private static ServerConnector newConnector(Server server, String host, int port) {
    HttpConfiguration http = new HttpConfiguration();
    http.setSendServerVersion(false);
    http.setSendDateHeader(true);
    // Names of models and conversations may contain any character.
    http.setUriCompliance(UriCompliance.LEGACY);
    ServerConnector connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
    connector.setHost(host);
    connector.setPort(port);
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
      String ports =
          options.port()
              + (options.metricsPort().isEmpty() ? "" : "," + options.metricsPort().getAsInt());
      throw new InvalidInputException(
          "%s:%s cannot be opened: %s; expected a free --port"
              .formatted(options.host(), ports, reason(e)),
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

  Optional<ConversationStore> store() {
    return store;
  }

  /** Returns the port that the server listens on. */
  public int port() {
    return connector.getLocalPort();
  }

  /** Returns the port of metrics and probes; empty if they have none of their own. */
  public OptionalInt metricsPort() {
    return probes.stream().mapToInt(ServerConnector::getLocalPort).findFirst();
  }

  /** Refuses further completions, and lets {@code /readyz} report that. Others go on. */
  public void drain() {
    httpService.onDrain().run();
  }

  /** Waits until no completion is running or queued; returns whether that happened in time. */
  public boolean awaitIdle(Duration timeout) throws InterruptedException {
    return httpService.inFlight().await(timeout);
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
    store.ifPresent(ConversationStore::close);
    try {
      httpService.inFlight().await(SHUTDOWN_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    stop(server);
  }
}
