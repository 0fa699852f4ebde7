package dev.kvasir.cli;

import dev.kvasir.cli.terminal.Streams;

/** The entry point of the process. */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    Streams streams = Streams.ofThisProcess();
    int exitCode = Kvasir.run(streams, arguments);
    streams.out().flush();
    streams.err().flush();
    System.exit(exitCode);
  }
}
