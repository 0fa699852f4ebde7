package dev.kvasir.langchain4j;

import dev.kvasir.KvasirException;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;

/**
 * A LangChain4j chat model that runs in this process. Concurrent calls share batches, cached
 * prefixes and cache memory. Thread-safe.
 */
public final class KvasirChatModel extends LocalModel implements ChatModel {
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
      return Responses.of(chatModel().chat(RequestTranslator.of(request)));
    } catch (KvasirException e) {
      throw ExceptionMapper.of(e);
    } catch (IllegalArgumentException e) {
      throw ExceptionMapper.of(e);
    }
  }
}
