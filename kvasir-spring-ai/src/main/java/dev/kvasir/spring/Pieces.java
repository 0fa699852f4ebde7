package dev.kvasir.spring;

import dev.kvasir.server.LocalAnswer;
import java.util.function.Consumer;
import org.springframework.ai.chat.model.ChatResponse;

/** Pieces of an answer as responses of a stream. */
final class Pieces implements LocalAnswer.Listener {
  private final LocalAnswer answer;
  private final Consumer<ChatResponse> out;
  private final StringBuilder reasoning = new StringBuilder();

  Pieces(LocalAnswer answer, Consumer<ChatResponse> out) {
    this.answer = answer;
    this.out = out;
  }

  @Override
  public void text(String piece) {
    out.accept(Responses.piece(answer, piece, reasoning.toString()));
  }

  /** All of it so far: of metadata, who gathers a stream keeps the last. */
  @Override
  public void reasoning(String piece) {
    reasoning.append(piece);
    out.accept(Responses.piece(answer, "", reasoning.toString()));
  }

  @Override
  public void call(LocalAnswer.Call call) {
    out.accept(Responses.call(answer, call, reasoning.toString()));
  }
}
