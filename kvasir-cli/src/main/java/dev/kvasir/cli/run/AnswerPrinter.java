package dev.kvasir.cli.run;

import dev.kvasir.GenerationListener;
import dev.kvasir.cli.terminal.Progress;
import dev.kvasir.cli.terminal.Streams;
import java.util.function.BooleanSupplier;

/** Prints text as it is generated, and shows how far a long prompt has been read. */
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

  /** Whether nobody reads the output any more, as after {@code | head -1}. */
  boolean isOutputClosed() {
    return streams.out().checkError();
  }

  /** Ends the last line, so that what follows does not stand on it. */
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
