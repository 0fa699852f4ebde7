package dev.kvasir.server;

import dev.kvasir.chat.ChatService;
import dev.kvasir.chat.ServedModel;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.server.http.Endpoints;
import dev.kvasir.server.http.InFlightResponses;
import dev.kvasir.server.http.RoutedModel;
import dev.kvasir.server.responses.ResponseArchive;
import dev.kvasir.server.responses.ResponseStore;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.server.watch.ServerObserver;
import dev.kvasir.store.prefix.ConversationStore;
import dev.kvasir.store.prefix.StoredTexts;
import java.util.Optional;
import java.util.function.Function;

/** One model with its chat service, its store and its endpoints. */
final class ModelService implements RoutedModel {
  private final LoadedModel model;
  private final ChatService chatService;
  private final Optional<ConversationStore> store;
  private final Endpoints endpoints;
  private final ServerLog log;

  private ModelService(
      LoadedModel model,
      ChatService chatService,
      Optional<ConversationStore> store,
      Endpoints endpoints,
      ServerLog log) {
    this.model = model;
    this.chatService = chatService;
    this.store = store;
    this.endpoints = endpoints;
    this.log = log;
  }

  /**
   * What the services of several models share.
   *
   * @param responses returns where responses are kept, which may use the texts of a model's store
   */
  record Shared(
      ServerObserver observer,
      Endpoints.Limits limits,
      Function<Optional<StoredTexts>, ResponseStore> responses) {
    Metrics metrics() {
      return observer.metrics();
    }

    ServerLog log() {
      return observer.log();
    }
  }

  /**
   * @param inFlight tracks the responses of this model
   * @throws dev.kvasir.error.InvalidInputException if the memory holds no sequence at all, or a
   *     store cannot be written to
   */
  static ModelService open(
      LoadedModel model, ServerOptions options, Shared shared, InFlightResponses inFlight) {
    ChatService chatService = new ChatService(model, options.serving(), shared.observer());
    Optional<ConversationStore> store = openStore(chatService.served(), options, shared.log());
    Endpoints endpoints =
        new Endpoints(
            chatService,
            shared.metrics(),
            store,
            shared.responses().apply(store.map(ConversationStore::texts)),
            shared.log(),
            shared.limits(),
            inFlight);
    return new ModelService(model, chatService, store, endpoints, shared.log());
  }

  private static Optional<ConversationStore> openStore(
      ServedModel served, ServerOptions options, ServerLog log) {
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

  /** Keeps responses in memory, and in a store if there is one. */
  static ResponseStore responseStore(Optional<StoredTexts> texts) {
    return new ResponseStore(
        ResponseStore.MAX_BYTES,
        texts.<ResponseArchive>map(ResponseTexts::new).orElse(ResponseArchive.NONE));
  }

  @Override
  public Endpoints endpoints() {
    return endpoints;
  }

  Optional<ConversationStore> store() {
    return store;
  }

  @Override
  public void stop() {
    chatService.close();
    store.ifPresent(ConversationStore::close);
  }

  @Override
  public void close() {
    model.close();
    log.note("unloaded " + model.name());
  }
}
