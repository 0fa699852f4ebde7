package dev.kvasir.langchain4j;

import dev.kvasir.ChatModel;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import java.util.List;
import java.util.Set;

/** The common base of the blocking and the streaming model. */
abstract sealed class LocalModel implements AutoCloseable
    permits KvasirChatModel, KvasirStreamingChatModel {
  private final ChatModel chatModel;
  private final boolean owned;
  private final ChatRequestParameters parameters;
  private final List<ChatModelListener> listeners;

  LocalModel(ModelBuilder<?> builder) {
    owned = builder.ownsChatModel();
    chatModel = builder.chatModel();
    parameters = builder.parameters(chatModel);
    listeners = builder.listeners();
  }

  /** Returns the chat model of Kvasir, which other models may share. */
  public ChatModel chatModel() {
    return chatModel;
  }

  public ChatRequestParameters defaultRequestParameters() {
    return parameters;
  }

  public List<ChatModelListener> listeners() {
    return listeners;
  }

  public Set<Capability> supportedCapabilities() {
    return Set.of(Capability.RESPONSE_FORMAT_JSON_SCHEMA);
  }

  /** Ends the answers and closes a model that was loaded here; a given one stays open. */
  @Override
  public void close() {
    if (owned) {
      chatModel.close();
    }
  }
}
