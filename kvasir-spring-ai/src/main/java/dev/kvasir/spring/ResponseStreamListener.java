package dev.kvasir.spring;

import dev.kvasir.server.ChatCompletion;
import java.util.function.Consumer;
import org.springframework.ai.chat.model.ChatResponse;

/** Converts the chunks of an answer to the responses of a stream. */
final class ResponseStreamListener implements ChatCompletion.Listener {
  private final ChatCompletion completion;
  private final Consumer<ChatResponse> out;
  private final StringBuilder reasoning = new StringBuilder();

  ResponseStreamListener(ChatCompletion completion, Consumer<ChatResponse> out) {
    this.completion = completion;
    this.out = out;
  }

  @Override
  public void text(String piece) {
    out.accept(SpringResponses.piece(completion, piece, reasoning.toString()));
  }

  /**
   * Emits all reasoning so far, because an aggregator of the stream retains only the last metadata.
   */
  @Override
  public void reasoning(String piece) {
    reasoning.append(piece);
    out.accept(SpringResponses.piece(completion, "", reasoning.toString()));
  }

  @Override
  public void toolCall(ChatCompletion.ToolCall toolCall) {
    out.accept(SpringResponses.call(completion, toolCall, reasoning.toString()));
  }
}
