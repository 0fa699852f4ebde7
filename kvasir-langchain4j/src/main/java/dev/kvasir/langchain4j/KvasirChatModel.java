package dev.kvasir.langchain4j;

import dev.kvasir.server.LocalAnswer;
import dev.kvasir.server.api.ApiException;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;

/**
 * A chat model of LangChain4j that runs within the process. Calls from several threads share steps
 * of the model, beginnings of their texts, and its memory.
 */
public final class KvasirChatModel extends LocalModel implements ChatModel {
  private static final LocalAnswer.Listener NOBODY = new LocalAnswer.Listener() {};

  private KvasirChatModel(Builder builder) {
    super(builder);
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Makes a {@link KvasirChatModel}. */
  public static final class Builder extends ModelBuilder<Builder> {
    private Builder() {}

    public KvasirChatModel build() {
      return new KvasirChatModel(this);
    }
  }

  @Override
  public ChatResponse doChat(ChatRequest request) {
    try {
      return Responses.of(answers().chat(RequestJson.of(request)).run(NOBODY));
    } catch (ApiException e) {
      throw Refusals.of(e);
    }
  }
}
