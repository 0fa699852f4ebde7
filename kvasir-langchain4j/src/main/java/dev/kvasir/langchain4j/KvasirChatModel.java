package dev.kvasir.langchain4j;

import dev.kvasir.server.LocalAnswer;
import dev.kvasir.server.LocalAnswers;
import dev.kvasir.server.api.ApiException;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.ChatModel;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.ChatResponse;
import java.util.List;
import java.util.Set;

/**
 * A chat model of LangChain4j that runs within the process. Calls from several threads share steps
 * of the model, beginnings of their texts, and its memory.
 */
public final class KvasirChatModel implements ChatModel, AutoCloseable {
  private static final LocalAnswer.Listener NOBODY = new LocalAnswer.Listener() {};

  private final LocalAnswers answers;
  private final boolean owned;
  private final ChatRequestParameters parameters;
  private final List<ChatModelListener> listeners;

  private KvasirChatModel(Builder builder) {
    owned = builder.ownsAnswers();
    answers = builder.answers();
    parameters = builder.parameters(answers);
    listeners = builder.listeners();
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
      return Responses.of(answers.chat(RequestJson.of(request)).run(NOBODY));
    } catch (ApiException e) {
      throw Refusals.of(e);
    }
  }

  /** What answers, to be shared with other models. */
  public LocalAnswers answers() {
    return answers;
  }

  @Override
  public ChatRequestParameters defaultRequestParameters() {
    return parameters;
  }

  @Override
  public List<ChatModelListener> listeners() {
    return listeners;
  }

  @Override
  public Set<Capability> supportedCapabilities() {
    return Set.of(Capability.RESPONSE_FORMAT_JSON_SCHEMA);
  }

  /** Ends its answers and closes a model that it has loaded; what it was given stays open. */
  @Override
  public void close() {
    if (owned) {
      answers.close();
    }
  }
}
