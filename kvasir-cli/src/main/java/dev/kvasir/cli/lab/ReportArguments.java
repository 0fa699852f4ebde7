package dev.kvasir.cli.lab;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** Options for the HTML report of an evaluation. */
final class ReportArguments {
  @Option(names = "--report", paramLabel = "FILE", description = "Write an HTML page with charts.")
  private Path file;

  @Option(names = "--inspect-kv", description = "Show the ranges of key channels in the report.")
  private boolean keyRanges;

  /** Rejects a report that could not be written in the end. */
  void check() {
    if (file != null) {
      AtomicFile.checkWritable(file);
    } else if (keyRanges) {
      throw new InvalidInputException(
          "--inspect-kv is part of a report; expected a file for it with --report FILE");
    }
  }

  boolean isWanted() {
    return file != null;
  }

  boolean hasKeyRanges() {
    return keyRanges;
  }

  Path file() {
    return file;
  }
}
