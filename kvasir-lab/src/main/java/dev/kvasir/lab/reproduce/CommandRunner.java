package dev.kvasir.lab.reproduce;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs commands of this program for tables that another command measures. */
public interface CommandRunner {
  /** Runs nothing. */
  CommandRunner NONE = arguments -> Optional.empty();

  /**
   * Runs a command in this process.
   *
   * @param arguments the command without {@code --json}
   * @return its figures by name; empty if it failed or was cancelled
   */
  Optional<Map<String, Double>> run(List<String> arguments);
}
