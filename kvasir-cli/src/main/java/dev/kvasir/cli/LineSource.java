package dev.kvasir.cli;

import java.util.Optional;

/** Where the lines of a chat come from. */
interface LineSource extends AutoCloseable {
  /** The next line; empty at the end, after Ctrl-D or at the end of a file. */
  Optional<String> next();

  /** Calls {@code action} on Ctrl-C while an answer is made. */
  void onInterrupt(Runnable action);

  @Override
  void close();
}
