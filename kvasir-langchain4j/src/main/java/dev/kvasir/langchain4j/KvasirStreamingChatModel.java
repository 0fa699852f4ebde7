package dev.kvasir.langchain4j;

import com.google.gson.JsonObject;
import dev.kvasir.server.ChatCompletion;
import dev.kvasir.server.api.ApiException;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import java.util.concurrent.CancellationException;

/**
 * A streaming chat model of LangChain4j that runs within the process. A handler is told on one
 * thread of its answer's own; what it throws it is told of, and the answer goes on.
 */
public final class KvasirStreamingChatModel extends LocalModel implements StreamingChatModel {
  private KvasirStreamingChatModel(Builder builder) {
    super(builder);
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
    Thread.ofVirtual()
        .name("kvasir-stream")
        .start(() -> stream(json, new StreamListenerAdapter(handler)));
  }

  private void stream(JsonObject request, StreamListenerAdapter adapter) {
    try {
      ChatCompletion completion = chatService().chat(request);
      ChatCompletion.Result result = completion.run(adapter.listener(completion));
      adapter.complete(Responses.of(result));
    } catch (CancellationException e) {
      // Who cancels an answer hears nothing more of it.
    } catch (ApiException e) {
      adapter.error(ExceptionMapper.of(e));
    } catch (RuntimeException e) {
      adapter.error(e);
    }
  }
}
