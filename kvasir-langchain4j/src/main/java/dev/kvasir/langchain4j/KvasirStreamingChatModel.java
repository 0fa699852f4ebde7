package dev.kvasir.langchain4j;

import com.google.gson.JsonObject;
import dev.kvasir.server.LocalAnswer;
import dev.kvasir.server.LocalAnswers;
import dev.kvasir.server.api.ApiException;
import dev.langchain4j.model.chat.Capability;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.listener.ChatModelListener;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.request.ChatRequestParameters;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;

/**
 * A streaming chat model of LangChain4j that runs within the process. A handler is told on one
 * thread of its answer's own; what it throws it is told of, and the answer goes on.
 */
public final class KvasirStreamingChatModel implements StreamingChatModel, AutoCloseable {
  private final LocalAnswers answers;
  private final boolean owned;
  private final ChatRequestParameters parameters;
  private final List<ChatModelListener> listeners;

  private KvasirStreamingChatModel(Builder builder) {
    owned = builder.ownsAnswers();
    answers = builder.answers();
    parameters = builder.parameters(answers);
    listeners = builder.listeners();
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Makes a {@link KvasirStreamingChatModel}. */
  public static final class Builder extends ModelBuilder<Builder> {
    private Builder() {}

    public KvasirStreamingChatModel build() {
      return new KvasirStreamingChatModel(this);
    }
  }

  @Override
  public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
    JsonObject json = RequestJson.of(request);
    Thread.ofVirtual().name("kvasir-stream").start(() -> stream(json, new Told(handler)));
  }

  private void stream(JsonObject request, Told told) {
    try {
      LocalAnswer answer = answers.chat(request);
      LocalAnswer.Whole whole = answer.run(told.listener(answer));
      told.complete(Responses.of(whole));
    } catch (CancellationException e) {
      // Who cancels an answer hears nothing more of it.
    } catch (ApiException e) {
      told.error(Refusals.of(e));
    } catch (RuntimeException e) {
      told.error(e);
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
