package dev.kvasir.cli.terminal;

import java.util.Optional;

/** The source of the lines of a chat. */
public interface LineSource extends AutoCloseable {
  /** Returns an interactive source if both ends are terminals. */
  static LineSource of(Streams streams) {
    boolean typed = streams.inIsTerminal() && streams.outIsTerminal();
    return typed ? new TerminalLines(streams) : new PipedLines(streams);
  }

  /** Returns the next line; empty after Ctrl-D or at the end of a file. */
  Optional<String> next();

  /** Sets the action to run when Ctrl-C is pressed during an answer. */
  void onInterrupt(Runnable action);

  @Override
  void close();
}
