package dev.kvasir.server;

import com.google.gson.JsonObject;
import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.server.answer.Admission;
import dev.kvasir.server.answer.RequestQueue;
import dev.kvasir.server.api.ApiException;
import dev.kvasir.server.api.Fields;
import dev.kvasir.server.openai.RequestReader;
import dev.kvasir.server.openai.ServedModel;
import dev.kvasir.server.store.ConversationStore;
import dev.kvasir.server.watch.Metrics;
import dev.kvasir.server.watch.ServerLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Serves OpenAI-style chat requests in this process, without a port. Libraries with their own API
 * use it in place of the HTTP server. Requests from several threads share batches, cached prefixes
 * and the KV-cache memory of the model. Closing it ends all completions, and closes the model if
 * this service loaded it.
 */
public final class ChatService implements AutoCloseable {
  private static final Duration SHUTDOWN_TIMEOUT = Duration.ofSeconds(10);

  private final ServedModel served;
  private final Admission admission;
  private final Metrics metrics;
  private final RequestQueue queue;
  private final RequestReader reader;
  private final Optional<ConversationStore> store;
  private final Runnable onClose;

  private ChatService(Model model, ServerOptions options, ServerLog log, Runnable onClose) {
    this.onClose = onClose;
    int context = Math.min(options.contextLimit(), model.config().contextLength());
    served = ServedModel.of(model, options.cacheSpecs(), context);
    metrics = new Metrics();
    admission =
        new Admission(sequenceBytes(model, options), options.maxSequences(), options.maxQueued());
    reader = new RequestReader(served, options.defaultMaxTokens());
    store =
        options.stores().isEmpty()
            ? Optional.empty()
            : Optional.of(
                ConversationStore.open(
                    model, options.stores(), options.cacheSpecs(), context, log));
    queue = new RequestQueue(model, context, admission, metrics, log, options.timeout(), store);
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
   * Returns the bytes left for sequences. Tables that all sequences of a cache spec share stay
   * allocated.
   */
  private static long sequenceBytes(Model model, ServerOptions options) {
    long tables = options.cacheSpecs().stream().mapToLong(model::sharedCacheBytes).sum();
    long limit = model.cacheMemory().limit();
    if (tables >= limit) {
      throw new InvalidInputException(
          "the tables of the caches %s take %d bytes; the memory of all caches is %d"
              .formatted(options.cacheSpecs(), tables, limit));
    }
    return limit - tables;
  }

  /**
   * Returns every model name that requests may use; the first one selects the default cache spec.
   */
  public List<String> modelNames() {
    return served.names();
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
    return new ChatCompletion(queue, reader.chat(fields), served.nameFor(fields));
  }

  ServedModel served() {
    return served;
  }

  Admission admission() {
    return admission;
  }

  Metrics metrics() {
    return metrics;
  }

  RequestQueue queue() {
    return queue;
  }

  Optional<ConversationStore> store() {
    return store;
  }

  RequestReader reader() {
    return reader;
  }

  /** Ends all completions with an error, waits for them, and flushes the store. */
  @Override
  public void close() {
    try {
      queue.stop(SHUTDOWN_TIMEOUT);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    store.ifPresent(ConversationStore::close);
    onClose.run();
  }
}
