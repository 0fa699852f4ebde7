package dev.kvasir.langchain4j;

import dev.kvasir.server.ChatCompletion;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.CompleteToolCall;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.PartialThinking;
import dev.langchain4j.model.chat.response.PartialThinkingContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;

/**
 * Adapts a LangChain4j handler to a listener of a chat completion. Tool calls are delivered whole.
 */
final class StreamListenerAdapter {
  private final StreamingChatResponseHandler handler;

  StreamListenerAdapter(StreamingChatResponseHandler handler) {
    this.handler = handler;
  }

  ChatCompletion.Listener listener(ChatCompletion completion) {
    StreamingHandle handle = new Handle(completion);
    return new ChatCompletion.Listener() {
      @Override
      public void text(String piece) {
        guard(
            () ->
                handler.onPartialResponse(
                    new PartialResponse(piece), new PartialResponseContext(handle)));
      }

      @Override
      public void reasoning(String piece) {
        guard(
            () ->
                handler.onPartialThinking(
                    new PartialThinking(piece), new PartialThinkingContext(handle)));
      }

      @Override
      public void toolCall(ChatCompletion.ToolCall toolCall) {
        guard(
            () ->
                handler.onCompleteToolCall(
                    new CompleteToolCall(toolCall.index(), Responses.request(toolCall))));
      }
    };
  }

  private record Handle(ChatCompletion completion) implements StreamingHandle {
    @Override
    public void cancel() {
      completion.cancel();
    }

    @Override
    public boolean isCancelled() {
      return completion.isCancelled();
    }
  }

  void complete(ChatResponse response) {
    guard(() -> handler.onCompleteResponse(response));
  }

  /** Reports an exception of a handler to the handler, as LangChain4j specifies. */
  private void guard(Runnable callback) {
    try {
      callback.run();
    } catch (RuntimeException e) {
      error(e);
    }
  }

  /** Reports an error; if that fails too, it can only be logged. */
  void error(Exception why) {
    try {
      handler.onError(why);
    } catch (RuntimeException e) {
      System.getLogger(StreamListenerAdapter.class.getName())
          .log(System.Logger.Level.WARNING, "a handler of errors failed", e);
    }
  }
}
