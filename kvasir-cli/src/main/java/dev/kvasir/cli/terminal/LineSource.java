package dev.kvasir.cli.terminal;

import java.util.Optional;

/** Where the lines of a chat come from. */
public interface LineSource extends AutoCloseable {
  /** Typed ones where a person sits at both ends. */
  static LineSource of(Streams streams) {
    boolean typed = streams.inIsTerminal() && streams.outIsTerminal();
    return typed ? new TerminalLines(streams) : new PipedLines(streams);
  }

  /** The next line; empty at the end, after Ctrl-D or at the end of a file. */
  Optional<String> next();

  /** Calls {@code action} on Ctrl-C while an answer is made. */
  void onInterrupt(Runnable action);

  @Override
  void close();
}
