package dev.kvasir.langchain4j;

import static org.assertj.core.api.Assertions.assertThat;

import dev.langchain4j.data.message.UserMessage;
import dev.langchain4j.model.chat.StreamingChatModel;
import dev.langchain4j.model.chat.request.ChatRequest;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Replaces the kit's {@code should_cancel_streaming}, which waits half a minute for output that
 * must not arrive. Here another answer, computed in the same steps, shows that it did not arrive.
 */
class CancelledStreamTest {
  private static final int PARTS = 5;
  private static final ChatRequest STORY =
      ChatRequest.builder()
          .messages(UserMessage.from("Tell me a long story about animals"))
          .maxOutputTokens(100)
          .build();

  static Stream<StreamingChatModel> models() {
    return Stream.of(InProcess.streaming().build(), Served.streaming().build());
  }

  /** A handler that can cancel its stream after some parts. */
  private static final class Listener implements StreamingChatResponseHandler {
    private final int mostParts;
    private final AtomicInteger parts = new AtomicInteger();
    private final CompletableFuture<StreamingHandle> cancelled = new CompletableFuture<>();
    private final CompletableFuture<ChatResponse> completed = new CompletableFuture<>();

    Listener(int mostParts) {
      this.mostParts = mostParts;
    }

    @Override
    public void onPartialResponse(PartialResponse part, PartialResponseContext context) {
      if (parts.incrementAndGet() == mostParts) {
        context.streamingHandle().cancel();
        cancelled.complete(context.streamingHandle());
      }
    }

    @Override
    public void onCompleteResponse(ChatResponse response) {
      completed.complete(response);
    }

    @Override
    public void onError(Throwable error) {
      completed.completeExceptionally(error);
    }
  }

  @ParameterizedTest
  @MethodSource("models")
  void nothingFollowsOnceAStreamIsCancelled(StreamingChatModel model) {
    Listener listener = new Listener(PARTS);
    model.chat(STORY, listener);
    StreamingHandle handle = listener.cancelled.join();
    assertThat(handle.isCancelled()).isTrue();
    Listener whole = new Listener(Integer.MAX_VALUE);
    model.chat(STORY, whole);
    whole.completed.join();
    assertThat(whole.parts.get()).isGreaterThan(PARTS);
    assertThat(listener.parts).hasValue(PARTS);
    assertThat(listener.completed).isNotDone();
    handle.cancel();
    assertThat(handle.isCancelled()).isTrue();
  }
}
