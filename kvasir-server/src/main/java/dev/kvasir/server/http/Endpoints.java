package dev.kvasir.server.http;

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
import java.util.concurrent.TimeUnit;

/** The routes of the server. */
public final class Endpoints {
  private static final String CONVERSATIONS = "/kvasir/conversations/";
  private static final long BUSY_MILLIS = 500;
  private static final long IDLE_MILLIS = 3000;

  private final ServedModel served;
  private final ServerState state;
  private final Metrics metrics;
  private final Probes probes;

  private Endpoints(ServedModel served, ServerState state, Metrics metrics, Probes probes) {
    this.probes = probes;
    this.served = served;
    this.state = state;
    this.metrics = metrics;
  }

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
   * @param access which clients are allowed
   * @param maxBodyBytes limit on the size of a request body
   * @param maxSequences sequences that run concurrently
   */
  public record Limits(AccessRules access, int maxBodyBytes, int maxSequences) {}

  public static HttpService create(
      ChatService service,
      Metrics metrics,
      Optional<ConversationStore> store,
      ResponseStore responseStore,
      ServerLog log,
      Limits limits) {
    ServedModel served = service.served();
    RequestReader reader = new RequestReader(service);
    ServerState state = new ServerState(service, metrics, store);
    InFlightResponses inFlight = new InFlightResponses();
    Probes health = new Probes(inFlight);
    Endpoints all = new Endpoints(served, state, metrics, health);
    Router router =
        new Router(
            limits.access(),
            metrics,
            log,
            limits.maxBodyBytes(),
            service.admission()::retrySeconds);
    CompletionRunner runner = new CompletionRunner(service.queue(), inFlight);
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
    ResponsesEndpoint responses =
        new ResponsesEndpoint(runner, reader, responseStore, served.model().tokenizer(), log);
    MessagesEndpoint messages = new MessagesEndpoint(runner, reader);
    Endpoint page = new StaticFiles();
    for (String version : List.of("/v1", "")) {
      router.add("POST", version + "/chat/completions", chat);
      router.add("POST", version + "/completions", text);
    }
    new VectorEndpoints(service.vectors(), served.name(), metrics, inFlight).addTo(router);
    new ModelEndpoints(served, service.queue(), limits.maxSequences()).addTo(router);
    InfillReader gaps = new InfillReader(served.model().tokenizer());
    router.add(
        "POST",
        "/infill",
        new CompletionEndpoint(
            runner,
            request -> reader.completion(gaps.completion(request)),
            request -> new InfillFormat(reader.nameFor(request))));
    for (String unsupported : List.of("/v1/audio/", "/v1/images/")) {
      router.add("POST", unsupported, Endpoints::refuseMedia);
    }
    String oneResponse = ResponsesEndpoint.PATH + "/";
    router
        .add("POST", ResponsesEndpoint.PATH, responses)
        .add("GET", oneResponse, responses::get)
        .add("POST", oneResponse, responses::cancel)
        .add("DELETE", oneResponse, responses::delete)
        .add("POST", "/v1/messages", messages)
        .add("POST", "/v1/messages/count_tokens", messages.counter());
    router
        .add("GET", "/metrics", all::metrics)
        .add("GET", "/kvasir/state", all::state)
        .add("GET", "/kvasir/events", all::events)
        .add("DELETE", CONVERSATIONS, all::forget)
        .addPublic("GET", "/", page)
        .addPublic("GET", "/page/", page);
    health.addTo(router);
    Router probes = new Router(AccessRules.loopback().listeningOn("any"), metrics, log, 0, () -> 1);
    probes.addPublic("GET", "/metrics", all::metrics);
    health.addTo(probes);
    return new HttpService(router, probes, health::drain, health::stop, inFlight);
  }

  private static void refuseMedia(Exchange exchange) {
    throw ApiException.invalid("this server has no models for audio or images; it generates text");
  }

  private void metrics(Exchange exchange) throws IOException {
    exchange.text(200, "text/plain; version=0.0.4; charset=utf-8", metrics.text(state.gauges()));
  }

  private void state(Exchange exchange) throws IOException {
    exchange.json(200, state.json(exchange.tenant()));
  }

  /** Streams the server state until the client disconnects. */
  private void events(Exchange exchange) throws IOException, InterruptedException {
    EventStream stream = new EventStream(exchange);
    while (!probes.isStopping()) {
      stream.data(state.json(exchange.tenant()));
      long begin = System.nanoTime();
      do {
        TimeUnit.MILLISECONDS.sleep(BUSY_MILLIS);
      } while (state.isIdle()
          && !probes.isStopping()
          && System.nanoTime() - begin < TimeUnit.MILLISECONDS.toNanos(IDLE_MILLIS));
    }
    stream.close();
  }

  private void forget(Exchange exchange) throws IOException {
    String tenant = CacheSalt.tenant(exchange.tenant(), exchange.parameter(CacheSalt.FIELD));
    served.model().prefixes().forget(tenant, exchange.after(CONVERSATIONS));
    exchange.noContent();
  }
}
