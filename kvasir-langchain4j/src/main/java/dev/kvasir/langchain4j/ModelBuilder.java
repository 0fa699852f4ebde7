package dev.kvasir.langchain4j;

import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.server.ChatService;
import dev.kvasir.server.ServerOptions;
import dev.kvasir.server.watch.ServerLog;
import dev.kvasir.store.StoreAddress;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The common builder of both models. Without a model path, a model or a chat service it uses the
 * bundled model of the module kvasir-mini.
 *
 * @param <B> the concrete builder
 */
public abstract sealed class ModelBuilder<B extends ModelBuilder<B>>
    permits KvasirChatModel.Builder, KvasirStreamingChatModel.Builder {
  private Optional<Path> path = Optional.empty();
  private Optional<Model> model = Optional.empty();
  private Optional<ChatService> shared = Optional.empty();
  private LoadOptions load = LoadOptions.defaults();
  private ServerOptions options = ServerOptions.defaults();
  private ChatRequestParameters parameters = KvasirChatRequestParameters.EMPTY;
  private List<ChatModelListener> listeners = List.of();

  ModelBuilder() {}

  @SuppressWarnings("unchecked") // B is the concrete class, one of the two permitted
  private B self() {
    return (B) this;
  }

  /** Loads a GGUF file or a Hugging Face folder, which is closed with the built model. */
  public B modelPath(Path fileOrFolder) {
    path = Optional.of(fileOrFolder);
    return self();
  }

  /** Uses a loaded model, which stays open. */
  public B model(Model loaded) {
    model = Optional.of(loaded);
    return self();
  }

  /** Shares the chat service of another model, including its kinds of cache and its memory. */
  public B chatService(ChatService chatService) {
    shared = Optional.of(chatService);
    return self();
  }

  /**
   * Sets the kinds of cache, such as {@code kivi:2}. Requests use the first by default, and others
   * by a model name such as {@code name@fp16}.
   */
  public B kv(String... specs) {
    options = options.withCacheSpecs(Stream.of(specs).map(CacheSpec::parse).toList());
    return self();
  }

  /** Sets the bytes that all caches of a model loaded here may use together. */
  public B kvMemory(long bytes) {
    load = load.withCacheBytes(bytes);
    return self();
  }

  /** Sets the compute threads of a model loaded here. */
  public B threads(int count) {
    load = load.withThreads(count);
    return self();
  }

  /** Limits the tokens of a prompt and its answer; the model's own limit applies too. */
  public B contextLimit(int tokens) {
    options = options.withLengths(tokens, options.defaultMaxTokens());
    return self();
  }

  /**
   * Sets the stores for cached prefixes, such as {@code /var/lib/kvasir,50GiB} or {@code
   * redis://host}. Folders are queried before servers.
   */
  public B store(String... places) {
    options = options.withStores(Stream.of(places).map(StoreAddress::parse).toList());
    return self();
  }

  /** Sets one folder without a size limit as the store. */
  public B store(Path folder) {
    options = options.withStores(List.of(new StoreAddress.FolderAddress(folder, 0)));
    return self();
  }

  /** Sets the defaults for parameters that requests leave unset. */
  public B defaultRequestParameters(ChatRequestParameters value) {
    parameters = value;
    return self();
  }

  public B listeners(List<ChatModelListener> value) {
    listeners = List.copyOf(value);
    return self();
  }

  boolean ownsChatService() {
    return shared.isEmpty();
  }

  ChatService chatService() {
    ServerLog log = new ServerLog(System.err);
    return shared.orElseGet(
        () ->
            model
                .map(loaded -> ChatService.of(loaded, options, log))
                .orElseGet(() -> ChatService.load(path, load, options, log)));
  }

  ChatRequestParameters parameters(ChatService chatService) {
    return KvasirChatRequestParameters.builder()
        .modelName(chatService.modelNames().getFirst())
        .overrideWith(parameters)
        .build();
  }

  List<ChatModelListener> listeners() {
    return listeners;
  }
}
