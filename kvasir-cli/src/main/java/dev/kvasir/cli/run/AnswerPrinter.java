package dev.kvasir.cli.run;

import dev.kvasir.GenerationListener;
import dev.kvasir.cli.terminal.Progress;
import dev.kvasir.cli.terminal.Streams;
import java.util.function.BooleanSupplier;

/** Prints text as it is generated, and shows the progress of a long prefill. */
final class AnswerPrinter implements GenerationListener, AutoCloseable {
  private final Streams streams;
  private final BooleanSupplier interrupted;
  private final Progress progress;
  private boolean lineIsOpen;

  AnswerPrinter(Streams streams, BooleanSupplier interrupted) {
    this.streams = streams;
    this.interrupted = interrupted;
    this.progress = new Progress(streams, "reading the prompt");
  }

  @Override
  public void promptProgress(int tokensDone, int tokensInAll) {
    progress.update(tokensDone, tokensInAll);
  }

  @Override
  public void text(String piece) {
    progress.close();
    streams.out().print(piece);
    streams.out().flush();
    lineIsOpen = !piece.endsWith("\n");
  }

  @Override
  public boolean stopped() {
    return interrupted.getAsBoolean() || isOutputClosed();
  }

  /** Returns whether the reader of the output has gone, as after {@code | head -1}. */
  boolean isOutputClosed() {
    return streams.out().checkError();
  }

  /** Ends the last line if it is open. */
  void endLine() {
    progress.close();
    if (lineIsOpen) {
      streams.out().println();
      streams.out().flush();
      lineIsOpen = false;
    }
  }

  @Override
  public void close() {
    endLine();
  }
}
