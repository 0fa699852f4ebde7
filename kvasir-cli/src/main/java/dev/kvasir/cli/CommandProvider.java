package dev.kvasir.cli;

import java.io.PrintStream;

/**
 * Adds a command from another module through {@link java.util.ServiceLoader}, since this module
 * does not depend on the modules above it.
 */
public interface CommandProvider {
  /**
   * @return a picocli command object
   */
  Object command(PrintStream out, PrintStream err);
}
