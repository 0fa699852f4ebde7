package dev.kvasir.cli.run;

import dev.kvasir.GenerationListener;
import dev.kvasir.text.StopSequences;
import java.util.Optional;

/** One answer while it is made: what of it counts goes to the printer and is kept. */
final class ReplyCollector implements GenerationListener {
  private final AnswerPrinter printer;
  private final Optional<StopSequences> stop;
  private final StringBuilder reply = new StringBuilder();

  /**
   * @param stop where given, ends an answer that does not end itself, and the space before the
   *     answer is the template's, not the answer's
   */
  ReplyCollector(AnswerPrinter printer, Optional<StopSequences> stop) {
    this.printer = printer;
    this.stop = stop;
  }

  @Override
  public void promptProgress(int tokensDone, int tokensInAll) {
    printer.promptProgress(tokensDone, tokensInAll);
  }

  @Override
  public void text(String piece) {
    if (stop.isEmpty()) {
      emit(piece);
    } else {
      String sure = stop.get().push(piece);
      emit(reply.isEmpty() ? sure.stripLeading() : sure);
    }
  }

  @Override
  public boolean stopped() {
    return printer.stopped() || stop.map(StopSequences::found).orElse(false);
  }

  private void emit(String text) {
    if (!text.isEmpty()) {
      reply.append(text);
      printer.text(text);
    }
  }

  /** The whole answer, once no more text comes. */
  String finish() {
    stop.ifPresent(text -> emit(text.finish()));
    return reply.toString();
  }
}
