package dev.kvasir;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.chat.ChatService;
import dev.kvasir.chat.CompletionObserver;
import dev.kvasir.chat.CompletionRequest;
import dev.kvasir.chat.ServingOptions;
import dev.kvasir.engine.PrefixCache;
import dev.kvasir.runtime.DeviceChoice;
import dev.kvasir.runtime.EngineOptions;
import dev.kvasir.runtime.LoadedModel;
import dev.kvasir.runtime.NamedModel;
import dev.kvasir.spi.PrefixStore;
import dev.kvasir.spi.PrefixStoreProvider;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Completes conversations with a model. Calls from several threads share batches, cached prefixes
 * and the memory of all KV caches; a request that does not fit waits. Closing it ends all
 * completions, and closes the model if it was loaded here.
 *
 * <pre>{@code
 * try (ChatModel chat = ChatModel.builder().cache("kivi:2").build()) {
 *   System.out.println(chat.chat("Tell me of the sea."));
 * }
 * }</pre>
 */
public final class ChatModel implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ChatModel.class.getName());

  private final ChatService service;
  private final Optional<PrefixStore> store;
  private final Runnable onClose;

  private ChatModel(LoadedModel model, Builder builder, Runnable onClose) {
    service = new ChatService(model, builder.serving, CompletionObserver.NONE);
    store = builder.stores.isEmpty() ? Optional.empty() : Optional.of(openStore(model, builder));
    this.onClose = onClose;
  }

  private PrefixStore openStore(LoadedModel model, Builder builder) {
    return PrefixStoreProvider.find()
        .open(
            model,
            builder.stores,
            service.served().cacheSpecs(),
            service.served().contextLimit(),
            line -> LOG.log(System.Logger.Level.INFO, line));
  }

  /** Returns a chat model with default settings for a model that stays open. */
  public static ChatModel of(Model model) {
    return builder().model(model).build();
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Returns every model name that requests may use; the first selects the default cache spec. */
  public List<String> names() {
    return service.served().names();
  }

  /**
   * The current load of a chat model and its memory.
   *
   * @param running sequences that are generated
   * @param queued requests that wait for memory
   * @param usedBytes KV-cache memory in use, cached prefixes included
   * @param reservedBytes KV-cache memory that running sequences have reserved
   * @param limitBytes limit of the KV-cache memory
   * @param prefixQueries prompts that were looked up in the prefix cache so far
   * @param prefixHits those of them with a cached prefix
   */
  public record Load(
      int running,
      int queued,
      long usedBytes,
      long reservedBytes,
      long limitBytes,
      long prefixQueries,
      long prefixHits) {}

  /** Returns the load at this moment, for monitoring. */
  public Load load() {
    LoadedModel model = service.served().model();
    PrefixCache.PrefixStats prefixes = model.prefixes().stats();
    return new Load(
        service.admission().running(),
        service.admission().queued(),
        model.cacheMemory().usedBytes(),
        service.admission().reserved(),
        model.cacheMemory().limit(),
        prefixes.queries(),
        prefixes.hits());
  }

  /** Returns the answer to one message. */
  public String chat(String message) {
    return chat(ChatRequest.of(message)).text();
  }

  /**
   * Returns the whole completion.
   *
   * @throws KvasirException if the request is refused or the completion fails
   */
  public ChatResponse chat(ChatRequest request) {
    return chat(request, event -> {});
  }

  /** Passes the events of a completion to a listener on this thread, and returns the response. */
  public ChatResponse chat(ChatRequest request, Consumer<? super ChatEvent> listener) {
    return stream(request).run(listener);
  }

  /**
   * Returns a completion as events to iterate over.
   *
   * @throws KvasirException if the request is invalid
   */
  public ChatStream stream(ChatRequest request) {
    CompletionRequest prepared = service.prepare(request);
    return new ChatStream(service.queue(), prepared, service.served().nameFor(prepared.kv()));
  }

  /** Returns a publisher that runs a new completion for each subscriber. */
  public Flow.Publisher<ChatEvent> publisher(ChatRequest request) {
    return new ChatPublisher(() -> stream(request));
  }

  /** Ends all completions with an error, waits for them, and closes what this model opened. */
  @Override
  public void close() {
    service.close();
    store.ifPresent(PrefixStore::close);
    onClose.run();
  }

  /**
   * Builds a {@link ChatModel}. Without a model or a path it uses the bundled model of the module
   * kvasir-mini.
   */
  public static final class Builder {
    private Optional<String> path = Optional.empty();
    private Optional<Model> model = Optional.empty();
    private LoadOptions load = LoadOptions.defaults();
    private ServingOptions serving = ServingOptions.defaults();
    private List<String> stores = List.of();

    private Builder() {}

    /** Uses a loaded model, which stays open. */
    public Builder model(Model loaded) {
      model = Optional.of(loaded);
      return this;
    }

    /** Loads a GGUF file or a Hugging Face folder, which is closed with the chat model. */
    public Builder modelPath(Path fileOrFolder) {
      return model(fileOrFolder.toString());
    }

    /**
     * Loads a model by name or path, as {@link Model#load(String)} does, which is closed with the
     * chat model. A name such as {@code hf:owner/repo:Q4_K_M} is downloaded when the chat model is
     * built.
     */
    public Builder model(String nameOrPath) {
      path = Optional.of(nameOrPath);
      return this;
    }

    /** Sets how a model is loaded here. */
    public Builder loadOptions(LoadOptions value) {
      load = value;
      return this;
    }

    /** Sets the caches that requests may select; the first one is the default. */
    public Builder cache(String... specs) {
      return cache(Stream.of(specs).map(KvCacheSpec::parse).toArray(KvCacheSpec[]::new));
    }

    /** Sets the caches that requests may select; the first one is the default. */
    public Builder cache(KvCacheSpec... specs) {
      if (specs.length == 0) {
        throw new IllegalArgumentException("there is no cache; expected at least one");
      }
      return serving(
          Stream.of(specs).map(CacheSpec::of).toList(),
          serving.contextLimit(),
          serving.defaultMaxTokens());
    }

    /** Limits the tokens of a prompt and its completion; the model's own limit applies too. */
    public Builder contextLimit(int tokens) {
      return serving(serving.cacheSpecs(), tokens, serving.defaultMaxTokens());
    }

    /** Sets the maximum tokens of a completion whose request sets no limit; default 2,048. */
    public Builder maxTokens(int tokens) {
      return serving(serving.cacheSpecs(), serving.contextLimit(), tokens);
    }

    private Builder serving(List<CacheSpec> specs, int contextLimit, int maxTokens) {
      serving =
          new ServingOptions(
              specs,
              contextLimit,
              maxTokens,
              serving.maxSequences(),
              serving.maxQueued(),
              serving.timeout(),
              serving.toolFormat());
      return this;
    }

    /**
     * Limits concurrency.
     *
     * @param running completions that run at once; default 64
     * @param queued requests that wait; default 256. Further ones are refused.
     * @param timeout limit on the duration of a completion; default ten minutes
     */
    public Builder limits(int running, int queued, Duration timeout) {
      serving =
          new ServingOptions(
              serving.cacheSpecs(),
              serving.contextLimit(),
              serving.defaultMaxTokens(),
              running,
              queued,
              timeout,
              serving.toolFormat());
      return this;
    }

    /** Sets how the model writes tool calls, instead of recognising it from the chat template. */
    public Builder toolFormat(ToolFormat format) {
      serving = serving.withToolFormat(Optional.of(format));
      return this;
    }

    /**
     * Sets the stores for cached prefixes, such as {@code /var/lib/kvasir,50GiB} or {@code
     * redis://host}. Folders are queried before servers. Needs the module kvasir-store. A chat
     * model with a store uses a GPU only if {@link LoadOptions#device} names one.
     *
     * @throws KvasirException if one is not an address
     */
    public Builder store(String... addresses) {
      stores = List.of(addresses);
      stores.forEach(PrefixStoreProvider.find()::checkAddress);
      return this;
    }

    /**
     * @throws KvasirException if the model cannot be loaded, the memory holds no sequence at all, a
     *     store cannot be written to, or the GPU cannot store sequences of one of the caches
     */
    public ChatModel build() {
      if (model.isPresent()) {
        return new ChatModel(LoadedModel.of(model.get()), this, () -> {});
      }
      EngineOptions options = engineOptions();
      LoadedModel loaded =
          path.map(named -> NamedModel.path(named, load.progress()))
              .map(file -> LoadedModel.load(file, options))
              .orElseGet(() -> LoadedModel.bundled(options));
      try {
        return new ChatModel(loaded, this, loaded::close);
      } catch (RuntimeException e) {
        loaded.close();
        throw e;
      }
    }

    private EngineOptions engineOptions() {
      EngineOptions options = EngineOptions.of(load);
      return stores.isEmpty()
          ? options
          : options.withDevice(new DeviceChoice(load.device(), serving.cacheSpecs()).storing());
    }
  }
}
