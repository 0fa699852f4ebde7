package dev.kvasir.cli.terminal;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/** Lines of a file or a pipe. Ctrl-C ends the program, as usual in a pipeline. */
final class PipedLines implements LineSource {
  private final BufferedReader reader;

  PipedLines(Streams streams) {
    this.reader = new BufferedReader(new InputStreamReader(streams.in(), StandardCharsets.UTF_8));
  }

  @Override
  public Optional<String> next() {
    try {
      return Optional.ofNullable(reader.readLine());
    } catch (IOException e) {
      throw new UncheckedIOException("standard input: cannot be read", e);
    }
  }

  @Override
  public void onInterrupt(Runnable action) {}

  @Override
  public void close() {}
}
