package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.terminal.Streams;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The exit code and the output of one command line. */
public record CommandRun(int exitCode, String out, String err) {
  /** Runs with an empty pipe as standard input. */
  public static CommandRun of(String... arguments) {
    return withInput("", arguments);
  }

  public static CommandRun withInput(String input, String... arguments) {
    return run(input, false, arguments);
  }

  /** Runs as at a terminal without input. */
  public static CommandRun atTerminal(String... arguments) {
    return run("", true, arguments);
  }

  private static CommandRun run(String input, boolean terminal, String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    Streams streams =
        new Streams(
            new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
            new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8),
            terminal,
            false,
            false);
    int exitCode = Kvasir.run(streams, arguments);
    return new CommandRun(
        exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }

  public CommandRun succeeds() {
    assertThat(exitCode).as(err).isZero();
    return this;
  }

  /** Asserts bad input: exit code 2, no standard output and one sentence on standard error. */
  public void isRefusedWith(String... parts) {
    assertThat(err).startsWith("kvasir: ").contains(parts).hasLineCount(1);
    assertThat(exitCode).isEqualTo(2);
    assertThat(out).isEmpty();
  }
}
