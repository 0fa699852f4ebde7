package dev.kvasir.langchain4j;

import dev.kvasir.ChatStream;
import dev.kvasir.KvasirException;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.concurrent.CancellationException;

/**
 * A LangChain4j streaming chat model that runs in this process. A handler is called on one thread
 * for each answer. Exceptions of the handler are reported to it, and the answer continues.
 */
public final class KvasirStreamingChatModel extends LocalModel implements StreamingChatModel {
  private KvasirStreamingChatModel(Builder builder) {
    super(builder);
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Builds a {@link KvasirStreamingChatModel}. */
  public static final class Builder extends ModelBuilder<Builder> {
    private Builder() {}

    public KvasirStreamingChatModel build() {
      return new KvasirStreamingChatModel(this);
    }
  }

  @Override
  public void doChat(ChatRequest request, StreamingChatResponseHandler handler) {
    StreamListenerAdapter adapter = new StreamListenerAdapter(handler);
    try {
      dev.kvasir.ChatRequest translated = RequestTranslator.of(request);
      Thread.ofVirtual().name("kvasir-stream").start(() -> stream(translated, adapter));
    } catch (IllegalArgumentException e) {
      adapter.error(ExceptionMapper.of(e));
    }
  }

  private void stream(dev.kvasir.ChatRequest request, StreamListenerAdapter adapter) {
    try {
      ChatStream stream = chatModel().stream(request);
      adapter.complete(Responses.of(stream.run(adapter.listener(stream))));
    } catch (CancellationException e) {
      // A cancelled answer is not reported any further.
    } catch (KvasirException e) {
      adapter.error(ExceptionMapper.of(e));
    } catch (RuntimeException e) {
      adapter.error(e);
    }
  }
}
