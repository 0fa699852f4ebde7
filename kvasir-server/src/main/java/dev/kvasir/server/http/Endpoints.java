package dev.kvasir.server.http;

import com.google.gson.JsonObject;
import dev.kvasir.chat.Admission;
import dev.kvasir.chat.ChatService;
import dev.kvasir.chat.ServedModel;
import dev.kvasir.server.api.AccessRules;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.CacheSalt;
import dev.kvasir.server.llamacpp.InfillFormat;
import dev.kvasir.server.llamacpp.InfillReader;
import dev.kvasir.server.openai.ChatResponseBuilder;
import dev.kvasir.server.openai.CompletionResponseBuilder;
import dev.kvasir.server.openai.RequestReader;
import dev.kvasir.server.responses.ResponseStore;
import dev.kvasir.server.state.ServerState;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.store.prefix.ConversationStore;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** The endpoints of one model. */
public final class Endpoints {
  static final String CONVERSATIONS = "/kvasir/conversations/";

  private final ServedModel served;
  private final ServerState state;
  private final Admission admission;
  private final InFlightResponses inFlight;
  private final Readiness readiness;
  private final ModelEndpoints models;
  private final Router router;
  private final Router probes;

  /**
   * @param probes metrics and probes alone, which need no key
   * @param onDrain called when the server shall get no further requests, so that probes report it
   * @param onStop called before the server stops
   * @param inFlight responses that are not fully written
   */
  public record HttpService(
      Router router,
      Router probes,
      Runnable onDrain,
      Runnable onStop,
      InFlightResponses inFlight) {}

  /**
   * @param access which clients are allowed; asked once a request
   * @param maxBodyBytes limit on the size of a request body
   * @param maxSequences sequences that run concurrently
   */
  public record Limits(Supplier<AccessRules> access, int maxBodyBytes, int maxSequences) {}

  /**
   * @param inFlight tracks the responses of this model
   */
  public Endpoints(
      ChatService service,
      Metrics metrics,
      Optional<ConversationStore> store,
      ResponseStore responseStore,
      ServerLog log,
      Limits limits,
      InFlightResponses inFlight) {
    this.served = service.served();
    this.state = new ServerState(service, metrics, store);
    this.admission = service.admission();
    this.inFlight = inFlight;
    this.readiness = new Readiness(inFlight, this::isIntact);
    this.models = new ModelEndpoints(served, service.queue(), limits.maxSequences());
    this.router =
        new Router(limits.access(), metrics, log, limits.maxBodyBytes(), admission::retrySeconds);
    this.probes = probeRouter(metrics, log);
    RequestReader reader = new RequestReader(service);
    CompletionRunner runner = new CompletionRunner(service.queue(), inFlight);
    addCompletions(runner, reader);
    addInfill(runner, reader);
    router.add(
        "POST",
        ResponsesEndpoint.PATH,
        new ResponsesEndpoint(runner, reader, responseStore, served.model().tokenizer(), log));
    new StoredResponses(responseStore).addTo(router);
    MessagesEndpoint messages = new MessagesEndpoint(runner, reader);
    router
        .add("POST", MessagesEndpoint.PATH, messages)
        .add("POST", MessagesEndpoint.COUNT_PATH, messages.counter());
    new VectorEndpoints(service.vectors(), served.name(), metrics, inFlight).addTo(router);
    models.addTo(router);
    new GatewayEndpoints(served, limits.maxSequences()).addTo(router);
    router.add("DELETE", CONVERSATIONS, this::forget);
    addCommon(router, probes, new StateEndpoints(new OwnState(), readiness), readiness);
  }

  static Router probeRouter(Metrics metrics, ServerLog log) {
    AccessRules all = AccessRules.loopback().listeningOn("any");
    return new Router(() -> all, metrics, log, 0, () -> 1);
  }

  /** Adds what a server has whatever its models are. */
  static void addCommon(Router router, Router probes, StateEndpoints state, Readiness readiness) {
    for (String unsupported : List.of("/v1/audio/", "/v1/images/")) {
      router.add("POST", unsupported, Endpoints::refuseMedia);
    }
    Endpoint page = new StaticFiles();
    router.addPublic("GET", "/", page).addPublic("GET", "/page/", page);
    state.addTo(router);
    state.addToProbes(probes);
    readiness.addTo(router);
    readiness.addTo(probes);
  }

  private void addCompletions(CompletionRunner runner, RequestReader reader) {
    Endpoint chat =
        new CompletionEndpoint(
            runner,
            reader::chat,
            request ->
                new ChatResponseBuilder(
                    reader.nameFor(request), served.model().tokenizer(), request));
    Endpoint text =
        new CompletionEndpoint(
            runner,
            reader::completion,
            request ->
                new CompletionResponseBuilder(
                    reader.nameFor(request), served.model().tokenizer(), request));
    for (String version : List.of("/v1", "")) {
      router.add("POST", version + "/chat/completions", chat);
      router.add("POST", version + "/completions", text);
    }
  }

  private void addInfill(CompletionRunner runner, RequestReader reader) {
    InfillReader gaps = new InfillReader(served.model().tokenizer());
    router.add(
        "POST",
        "/infill",
        new CompletionEndpoint(
            runner,
            request -> reader.completion(gaps.completion(request)),
            request -> new InfillFormat(reader.nameFor(request))));
  }

  /** Returns what a server of this model alone has. */
  public HttpService http() {
    return new HttpService(router, probes, readiness::drain, readiness::stop, inFlight);
  }

  Router router() {
    return router;
  }

  ServerState state() {
    return state;
  }

  ModelEndpoints models() {
    return models;
  }

  /** Returns false when only a restart helps. */
  boolean isIntact() {
    return served.model().isIntact();
  }

  Admission admission() {
    return admission;
  }

  public InFlightResponses inFlight() {
    return inFlight;
  }

  private static void refuseMedia(Exchange exchange) {
    throw ApiException.invalid("this server has no models for audio or images; it generates text");
  }

  private void forget(Exchange exchange) throws IOException {
    deletePrefixes(exchange);
    exchange.noContent();
  }

  /** Deletes the cached prefixes of the conversation that a request names, and returns its name. */
  String deletePrefixes(Exchange exchange) {
    String tenant = CacheSalt.tenant(exchange.tenant(), exchange.parameter(CacheSalt.FIELD));
    String conversation = exchange.after(CONVERSATIONS);
    served.model().prefixes().forget(tenant, conversation);
    return conversation;
  }

  private final class OwnState implements StateEndpoints.Source {
    @Override
    public JsonObject json(Exchange exchange) {
      return state.json(exchange.tenant());
    }

    @Override
    public boolean isIdle() {
      return state.isIdle();
    }

    @Override
    public String metrics() {
      return state.metrics();
    }
  }
}
