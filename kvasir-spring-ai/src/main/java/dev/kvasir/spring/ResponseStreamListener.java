package dev.kvasir.spring;

import dev.kvasir.ChatEvent;
import dev.kvasir.ChatStream;
import dev.kvasir.ToolCall;
import java.util.function.Consumer;
import org.springframework.ai.chat.model.ChatResponse;

/** Translates the events of a completion to the responses of a stream. */
final class ResponseStreamListener implements Consumer<ChatEvent> {
  private final ChatStream stream;
  private final Consumer<ChatResponse> out;
  private final StringBuilder reasoning = new StringBuilder();

  ResponseStreamListener(ChatStream stream, Consumer<ChatResponse> out) {
    this.stream = stream;
    this.out = out;
  }

  @Override
  public void accept(ChatEvent event) {
    switch (event) {
      case ChatEvent.Text piece ->
          out.accept(SpringResponses.piece(stream, piece.text(), reasoning.toString()));
      case ChatEvent.Reasoning piece -> {
        // All reasoning so far, because an aggregator of the stream retains only the last metadata.
        reasoning.append(piece.text());
        out.accept(SpringResponses.piece(stream, "", reasoning.toString()));
      }
      case ChatEvent.Call(int _, ToolCall toolCall) ->
          out.accept(SpringResponses.call(stream, toolCall, reasoning.toString()));
      case ChatEvent.Done done -> out.accept(SpringResponses.end(done.response()));
      // Spring AI executes the calls of a stream as they are, so only whole ones are passed on.
      case ChatEvent.CallStart _, ChatEvent.CallArguments _, ChatEvent.Prefill _ -> {}
    }
  }
}
