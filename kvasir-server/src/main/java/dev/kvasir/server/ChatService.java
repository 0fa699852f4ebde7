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
 * Answers requests of the OpenAI interface within this process, without a port: what a server does
 * behind its HTTP, for libraries that bring their own interface. Requests from several threads
 * share steps, beginnings of texts and the memory of the model. Closing it ends all answers, and
 * closes a model that it has loaded itself.
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
   * Answers with a model that others may use too, and that stays open.
   *
   * @param options of which the address, the size of bodies and who may ask are not looked at
   * @throws InvalidInputException where the memory holds no sequence at all, or a store cannot be
   *     written to
   */
  public static ChatService of(Model model, ServerOptions options, ServerLog log) {
    return new ChatService(model, options, log, () -> {});
  }

  /**
   * Answers with a model of its own.
   *
   * @param file or folder of the model; empty for the bundled one
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

  /** Tables that all sequences of a kind share stay once they are made. */
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

  /** Every name that requests may ask for; the first one is for the usual kind of cache. */
  public List<String> modelNames() {
    return served.names();
  }

  /**
   * An answer to a conversation, which begins when it is run.
   *
   * @param request as the body of {@code /v1/chat/completions}; one choice is answered, and {@code
   *     stream} means nothing
   * @throws ApiException where it cannot be answered
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

  /** Ends all answers with a reason, waits for them, and writes what the store has not got yet. */
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
