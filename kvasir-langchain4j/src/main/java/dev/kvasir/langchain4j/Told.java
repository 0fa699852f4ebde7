package dev.kvasir.langchain4j;

import dev.kvasir.server.LocalAnswer;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.CompleteToolCall;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.PartialThinking;
import dev.langchain4j.model.chat.response.PartialThinkingContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;

/** A handler as an answer tells it; calls of functions come whole. */
final class Told {
  private final StreamingChatResponseHandler handler;

  Told(StreamingChatResponseHandler handler) {
    this.handler = handler;
  }

  LocalAnswer.Listener listener(LocalAnswer answer) {
    StreamingHandle handle = new Handle(answer);
    return new LocalAnswer.Listener() {
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
      public void call(LocalAnswer.Call call) {
        guard(
            () ->
                handler.onCompleteToolCall(
                    new CompleteToolCall(call.index(), Responses.request(call))));
      }
    };
  }

  private record Handle(LocalAnswer answer) implements StreamingHandle {
    @Override
    public void cancel() {
      answer.cancel();
    }

    @Override
    public boolean isCancelled() {
      return answer.isCancelled();
    }
  }

  void complete(ChatResponse response) {
    guard(() -> handler.onCompleteResponse(response));
  }

  /** What a handler throws is told to itself, as the interface has it. */
  private void guard(Runnable telling) {
    try {
      telling.run();
    } catch (RuntimeException e) {
      error(e);
    }
  }

  /** What is thrown here has nobody left to be told to. */
  void error(Exception why) {
    try {
      handler.onError(why);
    } catch (RuntimeException e) {
      System.getLogger(Told.class.getName())
          .log(System.Logger.Level.WARNING, "a handler of errors failed", e);
    }
  }
}
