package dev.kvasir.server;

import com.google.gson.JsonObject;
import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.chat.Admission;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.server.openai.RequestReader;
import dev.kvasir.store.beginning.ConversationStore;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.server.watch.ServerObserver;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Serves OpenAI-style chat requests in this process, without a port. Libraries with their own API
 * use it in place of the HTTP server. Requests from several threads share batches, cached prefixes
 * and the KV-cache memory of the model. Closing it ends all completions, and closes the model if
 * this service loaded it.
 */
public final class ChatService implements AutoCloseable {
  private final dev.kvasir.chat.ChatService service;
  private final RequestReader reader;
  private final Optional<ConversationStore> store;
  private final Runnable onClose;

  private ChatService(Model model, ServerOptions options, ServerLog log, Runnable onClose) {
    this.onClose = onClose;
    service =
        new dev.kvasir.chat.ChatService(
            model, options.serving(), new ServerObserver(new Metrics(), log));
    reader = new RequestReader(service);
    store = KvasirServer.openStore(service, options, log);
  }

  /**
   * Returns a service for a model that others may use too, and that stays open.
   *
   * @param options the address, the body limit and the access rules are ignored
   * @throws InvalidInputException if the memory holds no sequence at all, or a store cannot be
   *     written to
   */
  public static ChatService of(Model model, ServerOptions options, ServerLog log) {
    return new ChatService(model, options, log, () -> {});
  }

  /**
   * Returns a service that loads its own model and closes it.
   *
   * @param file file or folder of the model; empty for the bundled one
   */
  public static ChatService load(
      Optional<Path> file, LoadOptions load, ServerOptions options, ServerLog log) {
    Model model = file.map(path -> Model.load(path, load)).orElseGet(() -> Model.bundled(load));
    try {
      return new ChatService(model, options, log, model::close);
    } catch (RuntimeException e) {
      model.close();
      throw e;
    }
  }

  /**
   * Returns every model name that requests may use; the first one selects the default cache spec.
   */
  public List<String> modelNames() {
    return service.served().names();
  }

  /**
   * Returns a completion of a conversation, which starts when it is run.
   *
   * @param request the body of {@code /v1/chat/completions}; {@code n} and {@code stream} are
   *     ignored
   * @throws ApiException if the request is invalid
   */
  public ChatCompletion chat(JsonObject request) {
    JsonObject single = request.deepCopy();
    single.remove("n");
    Fields fields = Fields.of(single);
    return new ChatCompletion(service.queue(), reader.chat(fields), reader.nameFor(fields));
  }

  Admission admission() {
    return service.admission();
  }

  /** Ends all completions with an error, waits for them, and flushes the store. */
  @Override
  public void close() {
    service.close();
    store.ifPresent(ConversationStore::close);
    onClose.run();
  }
}
