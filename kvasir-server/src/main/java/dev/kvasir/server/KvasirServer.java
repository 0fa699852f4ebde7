package dev.kvasir.server;

import dev.kvasir.KvCacheSpec;
import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.chat.ServedModel;
import dev.kvasir.chat.VectorService;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.runtime.LoadedEncoder;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.api.AccessRules;
import dev.kvasir.server.http.EncoderEndpoints;
import dev.kvasir.server.http.Endpoints;
import dev.kvasir.server.http.InFlightResponses;
import dev.kvasir.server.http.MalformedRequestHandler;
import dev.kvasir.server.http.ModelRouter;
import dev.kvasir.server.http.ProbePort;
import dev.kvasir.server.http.RoutedModel;
import dev.kvasir.server.http.SlowConnections;
import dev.kvasir.server.http.TracedHandler;
import dev.kvasir.server.models.ModelPool;
import dev.kvasir.server.models.ModelSource;
import dev.kvasir.server.responses.ResponseStore;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.server.watch.ServerObserver;
import dev.kvasir.server.watch.Telemetry;
import dev.kvasir.store.prefix.ConversationStore;
import dev.kvasir.store.prefix.TextStore;
import java.io.IOException;
import java.net.BindException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
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
 * An HTTP server for one model or several, compatible with the OpenAI API. Requests wait on virtual
 * threads; each running sequence has a platform thread. Closing the server ends all completions; a
 * model that it was given stays open.
 */
public final class KvasirServer implements AutoCloseable {
  /** A client that reads nothing for this long counts as disconnected. */
  private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(30);

  /** A client that sends no whole head of a request for this long is disconnected. */
  private static final Duration HEAD_TIMEOUT = Duration.ofMinutes(1);

  /** How long closing waits for clients to read the end of their response. */
  private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(5);

  private static final int JETTY_THREADS = 16;

  private final Server server;
  private final ServerConnector connector;
  private final Optional<ServerConnector> probes;
  private final Served served;
  private final Telemetry telemetry;
  private final Endpoints.HttpService httpService;
  private final AtomicReference<AccessRules> access;
  private boolean closed;

  private KvasirServer(
      Server server,
      ServerConnector connector,
      Optional<ServerConnector> probes,
      Served served,
      Telemetry telemetry,
      Endpoints.HttpService httpService,
      AtomicReference<AccessRules> access) {
    this.server = server;
    this.connector = connector;
    this.probes = probes;
    this.served = served;
    this.telemetry = telemetry;
    this.httpService = httpService;
    this.access = access;
  }

  /** What the server serves. */
  private sealed interface Served {
    /** Ends all completions. */
    void stop();

    /** Frees what the server has loaded itself. */
    void close();

    Optional<ConversationStore> store();
  }

  private record OneModel(ModelService service) implements Served {
    @Override
    public void stop() {
      service.stop();
    }

    @Override
    public void close() {}

    @Override
    public Optional<ConversationStore> store() {
      return service.store();
    }
  }

  private record OneEncoder(VectorService service) implements Served {
    @Override
    public void stop() {
      service.close();
    }

    @Override
    public void close() {}

    @Override
    public Optional<ConversationStore> store() {
      return Optional.empty();
    }
  }

  /**
   * @param texts keeps responses; empty without a store
   */
  private record SeveralModels(ModelPool<RoutedModel> pool, Optional<TextStore> texts)
      implements Served {
    @Override
    public void stop() {
      pool.stop();
    }

    @Override
    public void close() {
      pool.close();
      texts.ifPresent(TextStore::close);
    }

    @Override
    public Optional<ConversationStore> store() {
      return Optional.empty();
    }
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
   * Starts a server of one model.
   *
   * @throws InvalidInputException if the address cannot be bound, the memory holds no sequence at
   *     all, or a store cannot be written to
   */
  public static KvasirServer start(LoadedModel model, ServerOptions options, ServerLog log) {
    AtomicReference<AccessRules> access = accessOf(options);
    Telemetry telemetry = Telemetry.open();
    ModelService service =
        ModelService.open(
            model,
            options,
            new ModelService.Shared(
                new ServerObserver(new Metrics(), log, telemetry),
                limits(options, access),
                ModelService::responseStore),
            new InFlightResponses());
    return start(new OneModel(service), telemetry, service.endpoints().http(), options, access);
  }

  /**
   * Starts a server whose model is an encoder: it serves vectors or scores, and no text.
   *
   * @throws InvalidInputException if the address cannot be bound
   */
  public static KvasirServer start(LoadedEncoder encoder, ServerOptions options, ServerLog log) {
    AtomicReference<AccessRules> access = accessOf(options);
    VectorService vectors = VectorService.of(encoder, options.serving());
    Endpoints.HttpService http =
        EncoderEndpoints.create(
            vectors,
            ServedModel.shortName(encoder.name()),
            new Metrics(),
            log,
            limits(options, access));
    return start(new OneEncoder(vectors), Telemetry.open(), http, options, access);
  }

  /**
   * Starts a server of several models, each loaded when a request needs it. A store keeps the
   * responses of all models together.
   *
   * @param models lists them; called again when some may have been added
   * @param memory limit of all loaded models with their KV caches, in bytes
   * @param defaultModel of requests that name none; empty to reject these
   * @param options their caches are those of each model
   * @throws InvalidInputException if the address cannot be bound, or a store cannot be written to
   */
  public static KvasirServer start(
      Supplier<List<ServableModel>> models,
      long memory,
      Optional<String> defaultModel,
      ServerOptions options,
      ServerLog log) {
    AtomicReference<AccessRules> access = accessOf(options);
    InFlightResponses inFlight = new InFlightResponses();
    Optional<TextStore> texts =
        options.stores().isEmpty()
            ? Optional.empty()
            : Optional.of(TextStore.open(options.stores(), log::note));
    ResponseStore responses = ModelService.responseStore(texts.map(TextStore::texts));
    Telemetry telemetry = Telemetry.open();
    ModelService.Shared shared =
        new ModelService.Shared(
            new ServerObserver(new Metrics(), log, telemetry),
            limits(options, access),
            unused -> responses);
    ModelPool<RoutedModel> pool =
        new ModelPool<>(
            memory,
            options.maxQueued(),
            () ->
                models.get().stream()
                    .map(model -> new LoadableModel(model, options, shared, inFlight))
                    .toList());
    Endpoints.HttpService http =
        ModelRouter.create(
            pool, defaultModel, shared.metrics(), responses, log, shared.limits(), inFlight);
    return start(new SeveralModels(pool, texts), telemetry, http, options, access);
  }

  /** A model of the pool. */
  private record LoadableModel(
      ServableModel model,
      ServerOptions options,
      ModelService.Shared shared,
      InFlightResponses inFlight)
      implements ModelSource<RoutedModel> {
    @Override
    public String name() {
      return model.name();
    }

    @Override
    public long bytes() {
      return model.bytes();
    }

    @Override
    public RoutedModel load() {
      LoadedModel loaded = model.load();
      try {
        ServerOptions own = options.withCacheSpecs(model.cacheSpecs());
        ModelService service = ModelService.open(loaded, own, shared, inFlight.part());
        shared.log().note("loaded " + loaded.name());
        return service;
      } catch (RuntimeException | Error e) {
        loaded.close();
        throw e;
      }
    }
  }

  private static AtomicReference<AccessRules> accessOf(ServerOptions options) {
    return new AtomicReference<>(options.access().listeningOn(options.host()));
  }

  private static Endpoints.Limits limits(
      ServerOptions options, AtomicReference<AccessRules> access) {
    return new Endpoints.Limits(access::get, options.maxBodyBytes(), options.maxSequences());
  }

  private static KvasirServer start(
      Served served,
      Telemetry telemetry,
      Endpoints.HttpService httpService,
      ServerOptions options,
      AtomicReference<AccessRules> access) {
    Server server = newServer();
    ServerConnector connector = newConnector(server, options.host(), options.port());
    server.addConnector(connector);
    Optional<ServerConnector> probes =
        options.metricsPort().stream()
            .mapToObj(port -> newConnector(server, options.host(), port))
            .findFirst();
    probes.ifPresent(server::addConnector);
    Handler handler =
        probes
            .<Handler>map(port -> new ProbePort(port, httpService.probes(), httpService.router()))
            .orElse(httpService.router());
    SlowConnections guarded =
        new SlowConnections(new TracedHandler(handler, telemetry), HEAD_TIMEOUT);
    server.setHandler(guarded);
    Stream.concat(Stream.of(connector), probes.stream())
        .forEach(one -> one.addBean(guarded, false));
    server.setErrorHandler(new MalformedRequestHandler());
    try {
      listen(server, options);
    } catch (RuntimeException e) {
      served.stop();
      served.close();
      telemetry.close();
      throw e;
    }
    return new KvasirServer(server, connector, probes, served, telemetry, httpService, access);
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
    return served.store();
  }

  /** Replaces which clients are allowed, from the next request on. */
  public void setAccess(AccessRules rules) {
    access.set(rules.listeningOn(connector.getHost()));
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
    served.stop();
    try {
      httpService.inFlight().await(SHUTDOWN_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    stop(server);
    served.close();
    telemetry.close();
  }
}
