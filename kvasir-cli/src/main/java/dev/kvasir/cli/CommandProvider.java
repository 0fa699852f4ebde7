package dev.kvasir.cli;

import java.io.PrintStream;

/**
 * Adds a command from another module, found through {@link java.util.ServiceLoader}: the command
 * line does not know the modules above it.
 */
public interface CommandProvider {
  /**
   * @return an object that picocli takes for a command
   */
  Object command(PrintStream out, PrintStream err);
}
