package dev.kvasir.langchain4j;

import dev.kvasir.server.ChatCompletion;
import dev.kvasir.server.api.ApiException;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;

/**
 * A LangChain4j chat model that runs in this process. Concurrent calls share batches, cached
 * prefixes and cache memory. Thread-safe.
 */
public final class KvasirChatModel extends LocalModel implements ChatModel {
  private static final ChatCompletion.Listener NO_LISTENER = new ChatCompletion.Listener() {};

  private KvasirChatModel(Builder builder) {
    super(builder);
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link KvasirChatModel}. */
  public static final class Builder extends ModelBuilder<Builder> {
    private Builder() {}

    public KvasirChatModel build() {
      return new KvasirChatModel(this);
    }
  }

  @Override
  public ChatResponse doChat(ChatRequest request) {
    try {
      return Responses.of(chatService().chat(RequestJson.of(request)).run(NO_LISTENER));
    } catch (ApiException e) {
      throw ExceptionMapper.of(e);
    }
  }
}
