package dev.kvasir.langchain4j;

import com.google.gson.JsonObject;
import dev.kvasir.server.ChatCompletion;
import dev.kvasir.server.api.ApiException;
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
      // A cancelled answer is not reported any further.
    } catch (ApiException e) {
      adapter.error(ExceptionMapper.of(e));
    } catch (RuntimeException e) {
      adapter.error(e);
    }
  }
}
