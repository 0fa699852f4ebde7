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
 * What both kinds of model are made of. Without a model's path, a model or answers it is the
 * bundled model, of the module kvasir-mini.
 *
 * @param <B> the builder itself
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

  @SuppressWarnings("unchecked") // B is the class itself, which only two can be
  private B self() {
    return (B) this;
  }

  /** Loads a GGUF file or a folder of Hugging Face, which is closed with what is built. */
  public B modelPath(Path fileOrFolder) {
    path = Optional.of(fileOrFolder);
    return self();
  }

  /** Uses a model that is loaded, and stays open. */
  public B model(Model loaded) {
    model = Optional.of(loaded);
    return self();
  }

  /**
   * Shares what answers with another model; kinds of cache and memory are then as that has them.
   */
  public B chatService(ChatService chatService) {
    shared = Optional.of(chatService);
    return self();
  }

  /**
   * Kinds of cache, such as {@code kivi:2}. Requests use the first one; the others by a name of the
   * model such as {@code name@fp16}.
   */
  public B kv(String... specs) {
    options = options.withCacheSpecs(Stream.of(specs).map(CacheSpec::parse).toList());
    return self();
  }

  /** Bytes that the caches of all answers together may take, of a model that is loaded here. */
  public B kvMemory(long bytes) {
    load = load.withCacheBytes(bytes);
    return self();
  }

  /** Threads that compute, of a model that is loaded here. */
  public B threads(int count) {
    load = load.withThreads(count);
    return self();
  }

  /** Tokens of a prompt and its answer, at most what the model has. */
  public B contextLimit(int tokens) {
    options = options.withLengths(tokens, options.defaultMaxTokens());
    return self();
  }

  /**
   * Places where what was read outlives memory and the process, such as {@code
   * /var/lib/kvasir,50GiB} or {@code redis://host}; folders are asked before servers.
   */
  public B store(String... places) {
    options = options.withStores(Stream.of(places).map(StoreAddress::parse).toList());
    return self();
  }

  /** The same for one folder of any size. */
  public B store(Path folder) {
    options = options.withStores(List.of(new StoreAddress.FolderAddress(folder, 0)));
    return self();
  }

  /** What requests leave open. */
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
