package dev.kvasir.langchain4j;

import dev.kvasir.ChatModel;
import dev.kvasir.KvCacheSpec;
import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.ToolFormat;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The common builder of both models. Without a model path, a model or a chat model of Kvasir it
 * uses the bundled model of the module kvasir-mini.
 *
 * @param <B> the concrete builder
 */
public abstract sealed class ModelBuilder<B extends ModelBuilder<B>>
    permits KvasirChatModel.Builder, KvasirStreamingChatModel.Builder {
  private final ChatModel.Builder chat = ChatModel.builder();
  private Optional<ChatModel> shared = Optional.empty();
  private final LoadOptions.Builder load = LoadOptions.builder();
  private ChatRequestParameters parameters = KvasirChatRequestParameters.EMPTY;
  private List<ChatModelListener> listeners = List.of();

  ModelBuilder() {}

  @SuppressWarnings("unchecked") // B is the concrete class, one of the two permitted
  private B self() {
    return (B) this;
  }

  /** Loads a GGUF file or a Hugging Face folder, which is closed with the built model. */
  public B modelPath(Path fileOrFolder) {
    chat.modelPath(fileOrFolder);
    return self();
  }

  /** Uses a loaded model, which stays open. */
  public B model(Model loaded) {
    chat.model(loaded);
    return self();
  }

  /** Shares a chat model of Kvasir, including its kinds of cache and its memory. */
  public B chatModel(ChatModel chatModel) {
    shared = Optional.of(chatModel);
    return self();
  }

  /**
   * Sets the kinds of cache, such as {@code kivi:2}. Requests use the first by default, and others
   * by a model name such as {@code name@fp16}.
   */
  public B kv(String... specs) {
    chat.cache(specs);
    return self();
  }

  /** Sets the kinds of cache; requests use the first by default. */
  public B kv(KvCacheSpec... specs) {
    chat.cache(specs);
    return self();
  }

  /** Sets the bytes that all caches of a model loaded here may use together. */
  public B kvMemory(long bytes) {
    load.cacheMemory(bytes);
    return self();
  }

  /** Sets the compute threads of a model loaded here. */
  public B threads(int count) {
    load.threads(count);
    return self();
  }

  /** Limits the tokens of a prompt and its answer; the model's own limit applies too. */
  public B contextLimit(int tokens) {
    chat.contextLimit(tokens);
    return self();
  }

  /**
   * Sets the stores for cached prefixes, such as {@code /var/lib/kvasir,50GiB} or {@code
   * redis://host}. Folders are queried before servers. Needs the module kvasir-store.
   */
  public B store(String... places) {
    chat.store(places);
    return self();
  }

  /** Sets how the model writes tool calls, instead of recognising it from the chat template. */
  public B toolFormat(ToolFormat format) {
    chat.toolFormat(format);
    return self();
  }

  /** Sets one folder without a size limit as the store. */
  public B store(Path folder) {
    return store(folder + ",0");
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

  boolean ownsChatModel() {
    return shared.isEmpty();
  }

  ChatModel chatModel() {
    return shared.orElseGet(() -> chat.loadOptions(load.build()).build());
  }

  ChatRequestParameters parameters(ChatModel chatModel) {
    return KvasirChatRequestParameters.builder()
        .modelName(chatModel.names().getFirst())
        .overrideWith(parameters)
        .build();
  }

  List<ChatModelListener> listeners() {
    return listeners;
  }
}
