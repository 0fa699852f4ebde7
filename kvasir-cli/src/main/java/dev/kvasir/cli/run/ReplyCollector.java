package dev.kvasir.cli.run;

import dev.kvasir.GenerationListener;
import dev.kvasir.text.StopSequences;
import java.util.Optional;

/** Prints an answer as it is generated and collects its text up to a stop phrase. */
final class ReplyCollector implements GenerationListener {
  private final AnswerPrinter printer;
  private final Optional<StopSequences> stop;
  private final StringBuilder reply = new StringBuilder();

  /**
   * @param stop if present, ends an answer that does not end itself; then leading space belongs to
   *     the template and is removed
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

  /** Returns the whole answer once generation has ended. */
  String finish() {
    stop.ifPresent(text -> emit(text.finish()));
    return reply.toString();
  }
}
