package dev.kvasir.cli.run;

import dev.kvasir.GenerationListener;
import dev.kvasir.text.StopTexts;
import java.util.Optional;

/** One answer while it is made: what of it counts goes to the printer and is kept. */
final class Turn implements GenerationListener {
  private final AnswerPrinter printer;
  private final Optional<StopTexts> stop;
  private final StringBuilder said = new StringBuilder();

  /**
   * @param stop where given, ends an answer that does not end itself, and the space before the
   *     answer is the template's, not the answer's
   */
  Turn(AnswerPrinter printer, Optional<StopTexts> stop) {
    this.printer = printer;
    this.stop = stop;
  }

  @Override
  public void prompt(int tokensDone, int tokensInAll) {
    printer.prompt(tokensDone, tokensInAll);
  }

  @Override
  public void text(String piece) {
    if (stop.isEmpty()) {
      say(piece);
    } else {
      String sure = stop.get().push(piece);
      say(said.isEmpty() ? sure.stripLeading() : sure);
    }
  }

  @Override
  public boolean stopped() {
    return printer.stopped() || stop.map(StopTexts::found).orElse(false);
  }

  private void say(String text) {
    if (!text.isEmpty()) {
      said.append(text);
      printer.text(text);
    }
  }

  /** The whole answer, once no more text comes. */
  String finish() {
    stop.ifPresent(text -> say(text.finish()));
    return said.toString();
  }
}
