package dev.kvasir.server.http;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import dev.kvasir.KvasirException;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.server.anthropic.MessagesError;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.http.Endpoints.HttpService;
import dev.kvasir.server.http.Endpoints.Limits;
import dev.kvasir.server.models.ModelPool;
import dev.kvasir.server.models.ModelStatus;
import dev.kvasir.server.responses.ResponseStore;
import dev.kvasir.server.state.ServerState;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * The routes of a server with several models. A request is passed to the endpoints of the model
 * that it names, which is loaded first if necessary.
 */
public final class ModelRouter {
  private static final String MODEL = "model";

  private final ModelPool<RoutedModel> pool;
  private final Optional<String> defaultModel;
  private final Metrics metrics;
  private final ServerLog log;
  private final InFlightResponses inFlight;

  private ModelRouter(
      ModelPool<RoutedModel> pool,
      Optional<String> defaultModel,
      Metrics metrics,
      ServerLog log,
      InFlightResponses inFlight) {
    this.pool = pool;
    this.defaultModel = defaultModel;
    this.metrics = metrics;
    this.log = log;
    this.inFlight = inFlight;
  }

  /**
   * @param defaultModel of requests that name none; empty to reject these
   * @param inFlight tracks the responses of all models
   */
  public static HttpService create(
      ModelPool<RoutedModel> pool,
      Optional<String> defaultModel,
      Metrics metrics,
      ResponseStore responses,
      ServerLog log,
      Limits limits,
      InFlightResponses inFlight) {
    ModelRouter all = new ModelRouter(pool, defaultModel, metrics, log, inFlight);
    Readiness readiness = new Readiness(inFlight, all::areIntact);
    Router router =
        new Router(limits.access(), metrics, log, limits.maxBodyBytes(), all::retrySeconds);
    Router probes = Endpoints.probeRouter(metrics, log);
    for (String version : List.of("/v1", "")) {
      router
          .add("GET", version + "/models", all::list)
          .add("POST", version + "/models/load", all::load)
          .add("POST", version + "/models/unload", all::unload);
    }
    router
        .add("GET", ModelEndpoints.MODELS, all::describe)
        .add("GET", "/props", all::pass)
        .add("GET", "/slots", all::pass)
        .add("POST", MessagesEndpoint.PATH, all.new PassedMessages())
        .add("POST", MessagesEndpoint.COUNT_PATH, all.new PassedMessages())
        .add("DELETE", Endpoints.CONVERSATIONS, all::forget)
        .otherwise(all::passPosted);
    GatewayEndpoints.addTo(router, all::pass);
    new StoredResponses(responses).addTo(router);
    Endpoints.addCommon(
        router, probes, new StateEndpoints(all.new SharedState(), readiness), readiness);
    return new HttpService(router, probes, readiness::drain, readiness::stop, inFlight);
  }

  /** The routes of a model are known only when it is loaded, so all that is posted is passed on. */
  private void passPosted(Exchange exchange) throws IOException, InterruptedException {
    if (!exchange.method().equals("POST")) {
      Router.refusePath(exchange);
    }
    pass(exchange);
  }

  private void pass(Exchange exchange) throws IOException, InterruptedException {
    boolean isPosted = exchange.method().equals("POST");
    boolean streams = isPosted && exchange.body().isTrue("stream");
    String name = requested(exchange);
    try (InFlightResponses.InFlight _ = inFlight.begin();
        ModelPool<RoutedModel>.Lease lease =
            lease(name, () -> keepAlive(exchange, streams, name))) {
      lease.model().endpoints().router().dispatch(exchange);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static void keepAlive(Exchange exchange, boolean streams, String name) {
    try {
      exchange.keepAlive(streams, "waiting for the model " + name);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ModelPool<RoutedModel>.Lease lease(String name, Runnable whileWaiting) {
    try {
      return pool.lease(name, whileWaiting);
    } catch (InvalidInputException e) {
      throw ApiException.invalidField(MODEL, e.getMessage());
    } catch (KvasirException e) {
      if (e.reason() == KvasirException.Reason.FAILED) {
        log.failure(e.getMessage(), e.getCause());
      }
      throw e;
    }
  }

  /** Returns the model that a request names, in its body or as a parameter of its query. */
  private String requested(Exchange exchange) throws IOException {
    Optional<String> named =
        exchange.method().equals("POST") ? exchange.body().string(MODEL) : Optional.empty();
    String wanted =
        named
            .or(() -> exchange.parameter(MODEL))
            .or(() -> defaultModel)
            .orElseThrow(
                () ->
                    ApiException.invalidField(
                        MODEL, "model is missing; expected one of %s".formatted(names())));
    return known(wanted);
  }

  private String known(String wanted) {
    return pool.find(wanted)
        .orElseThrow(
            () ->
                ApiException.unknownModel(
                    "there is no model '%s'; there are %s".formatted(wanted, names())));
  }

  private List<String> names() {
    return pool.list().stream().map(ModelStatus::name).toList();
  }

  /** The field status is that of llama.cpp's server. */
  private List<JsonObject> models() {
    List<JsonObject> models = new ArrayList<>();
    for (ModelStatus status : pool.list()) {
      List<JsonObject> known =
          ofLoaded(status.name(), model -> model.models().all())
              .orElseGet(() -> List.of(ModelEndpoints.unloaded(status.name())));
      known.forEach(model -> model.add("status", status(status)));
      models.addAll(known);
    }
    return models;
  }

  private static JsonObject status(ModelStatus model) {
    boolean failed = model.state() == ModelStatus.State.FAILED;
    JsonObject status = new JsonObject();
    status.addProperty(
        "value", failed ? "unloaded" : model.state().name().toLowerCase(Locale.ROOT));
    if (failed) {
      status.addProperty("failed", true);
    }
    if (model.bytes() > 0) {
      status.addProperty("bytes", model.bytes());
    }
    return status;
  }

  private void list(Exchange exchange) throws IOException {
    exchange.json(200, ModelEndpoints.list(models()));
  }

  private void describe(Exchange exchange) throws IOException {
    exchange.json(200, ModelEndpoints.named(exchange.after(ModelEndpoints.MODELS), models()));
  }

  private void load(Exchange exchange) throws IOException {
    String name = requested(exchange);
    try (ModelPool<RoutedModel>.Lease _ = lease(name, () -> keepAlive(exchange, false, name))) {
      succeed(exchange);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private void unload(Exchange exchange) throws IOException {
    String name = requested(exchange);
    boolean isUnloaded;
    try {
      isUnloaded = pool.unload(name);
    } catch (InvalidInputException e) {
      throw ApiException.invalidField(MODEL, e.getMessage());
    }
    if (!isUnloaded) {
      throw ApiException.conflict("the model '%s' is in use".formatted(name));
    }
    succeed(exchange);
  }

  private static void succeed(Exchange exchange) throws IOException {
    JsonObject body = new JsonObject();
    body.addProperty("success", true);
    exchange.json(200, body);
  }

  /** Deletes the prefixes of a conversation in the loaded models, which are those in memory. */
  private void forget(Exchange exchange) throws IOException {
    for (String name : pool.loaded()) {
      ofLoaded(name, model -> model.deletePrefixes(exchange));
    }
    exchange.noContent();
  }

  /** Returns something of a model that is loaded, which stays loaded meanwhile. */
  private <R> Optional<R> ofLoaded(String name, Function<Endpoints, R> function) {
    Optional<ModelPool<RoutedModel>.Lease> found = pool.leaseIfLoaded(name);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    try (ModelPool<RoutedModel>.Lease lease = found.get()) {
      return Optional.of(function.apply(lease.model().endpoints()));
    }
  }

  private <R> List<R> ofAllLoaded(Function<Endpoints, R> function) {
    return pool.loaded().stream().flatMap(name -> ofLoaded(name, function).stream()).toList();
  }

  private boolean areIntact() {
    return ofAllLoaded(Endpoints::isIntact).stream().allMatch(intact -> intact);
  }

  private long retrySeconds() {
    return ofAllLoaded(model -> model.admission().retrySeconds()).stream().reduce(1L, Math::max);
  }

  /** Passes requests of the Messages API, whose errors have a format of their own. */
  private final class PassedMessages implements Endpoint {
    @Override
    public void handle(Exchange exchange) throws IOException, InterruptedException {
      pass(exchange);
    }

    @Override
    public JsonObject error(ApiException why) {
      return MessagesError.json(why);
    }
  }

  /** The state of the model that a request names or that was used last, and what is loaded. */
  private final class SharedState implements StateEndpoints.Source {
    @Override
    public JsonObject json(Exchange exchange) {
      List<ModelStatus> listed = pool.list();
      String shown =
          exchange
              .parameter(MODEL)
              .map(ModelRouter.this::known)
              .or(() -> pool.loaded().stream().findFirst())
              .or(() -> defaultModel)
              .or(() -> listed.stream().findFirst().map(ModelStatus::name))
              .orElse("");
      JsonObject state =
          ofLoaded(shown, model -> model.state().json(exchange.tenant()))
              .orElseGet(() -> ServerState.unloaded(shown));
      state.add("models", models(listed));
      JsonObject memory = new JsonObject();
      memory.addProperty("limit", pool.budget());
      memory.addProperty("taken", pool.used());
      state.add("models_memory", memory);
      return state;
    }

    private static JsonArray models(List<ModelStatus> listed) {
      JsonArray models = new JsonArray();
      for (ModelStatus one : listed) {
        JsonObject model = status(one);
        model.addProperty("name", one.name());
        models.add(model);
      }
      return models;
    }

    @Override
    public boolean isIdle() {
      return ofAllLoaded(model -> model.state().isIdle()).stream().allMatch(idle -> idle);
    }

    /** Totals of vLLM's names are of all models together. */
    @Override
    public String metrics() {
      return metrics.text(gauges()) + metrics.textOfVllm("model_name=\"all\"");
    }

    /** Gauges of one name are adjacent. */
    private List<Metrics.Gauge> gauges() {
      List<Metrics.Gauge> all = new ArrayList<>();
      for (String name : pool.loaded()) {
        ofLoaded(name, model -> model.state().gauges())
            .ifPresent(own -> own.forEach(gauge -> all.add(gauge.ofModel(name))));
      }
      all.add(gauge("kvasir_models_loaded", "Models in memory.", pool.loaded().size()));
      all.add(gauge("kvasir_models_limit_bytes", "Memory limit of all models.", pool.budget()));
      all.add(
          gauge(
              "kvasir_models_used_bytes",
              "Weights of the models in memory, and the limits of their KV caches.",
              pool.used()));
      all.add(
          new Metrics.Gauge(
              "kvasir_model_loads_total", "counter", "Loads of models.", "", pool.loads()));
      return Metrics.Gauge.byName(all);
    }

    private static Metrics.Gauge gauge(String name, String help, long value) {
      return new Metrics.Gauge(name, "gauge", help, "", value);
    }
  }
}
