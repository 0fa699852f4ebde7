package dev.kvasir.langchain4j;

import dev.kvasir.ChatEvent;
import dev.kvasir.ChatStream;
import dev.kvasir.ToolCall;
import dev.langchain4j.model.chat.response.ChatResponse;
import dev.langchain4j.model.chat.response.CompleteToolCall;
import dev.langchain4j.model.chat.response.PartialResponse;
import dev.langchain4j.model.chat.response.PartialResponseContext;
import dev.langchain4j.model.chat.response.PartialThinking;
import dev.langchain4j.model.chat.response.PartialThinkingContext;
import dev.langchain4j.model.chat.response.PartialToolCall;
import dev.langchain4j.model.chat.response.PartialToolCallContext;
import dev.langchain4j.model.chat.response.StreamingChatResponseHandler;
import dev.langchain4j.model.chat.response.StreamingHandle;
import java.util.function.Consumer;

/** Adapts a LangChain4j handler to the events of a chat stream. */
final class StreamListenerAdapter {
  private final StreamingChatResponseHandler handler;
  private String callId; // of the last call that started
  private String callName;

  StreamListenerAdapter(StreamingChatResponseHandler handler) {
    this.handler = handler;
  }

  Consumer<ChatEvent> listener(ChatStream stream) {
    StreamingHandle handle = new Handle(stream);
    return event -> guard(() -> deliver(event, handle));
  }

  private void deliver(ChatEvent event, StreamingHandle handle) {
    switch (event) {
      case ChatEvent.Text piece ->
          handler.onPartialResponse(
              new PartialResponse(piece.text()), new PartialResponseContext(handle));
      case ChatEvent.Reasoning piece ->
          handler.onPartialThinking(
              new PartialThinking(piece.text()), new PartialThinkingContext(handle));
      case ChatEvent.CallStart(int _, String id, String name) -> {
        callId = id;
        callName = name;
      }
      case ChatEvent.CallArguments(int index, String json) ->
          handler.onPartialToolCall(partial(index, json), new PartialToolCallContext(handle));
      case ChatEvent.Call(int index, ToolCall toolCall) ->
          handler.onCompleteToolCall(new CompleteToolCall(index, Responses.request(toolCall)));
      case ChatEvent.Prefill _, ChatEvent.Done _ -> {}
    }
  }

  private PartialToolCall partial(int index, String json) {
    return PartialToolCall.builder()
        .index(index)
        .id(callId)
        .name(callName)
        .partialArguments(json)
        .build();
  }

  private record Handle(ChatStream stream) implements StreamingHandle {
    @Override
    public void cancel() {
      stream.cancel();
    }

    @Override
    public boolean isCancelled() {
      return stream.isCancelled();
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
