package dev.kvasir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.error.InvalidInputException;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiFunction;
import picocli.CommandLine;

/** A rejected command line: its error message, with no other output. */
record Refusal(String sentence) {
  /**
   * @param command created from its two streams
   */
  static Refusal of(BiFunction<PrintStream, PrintStream, Object> command, String... arguments) {
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    PrintStream stream = new PrintStream(printed, true, StandardCharsets.UTF_8);
    AtomicReference<Exception> thrown = new AtomicReference<>();
    new CommandLine(command.apply(stream, stream))
        .setExecutionExceptionHandler(
            (e, line, parsed) -> {
              thrown.set(e);
              return 2;
            })
        .execute(arguments);
    assertThat(thrown.get()).isInstanceOf(InvalidInputException.class);
    // Any work would print something, at least about warming up.
    assertThat(printed.toString(StandardCharsets.UTF_8)).isEmpty();
    return new Refusal(thrown.get().getMessage());
  }

  void says(String... parts) {
    assertThat(sentence).contains(parts);
  }
}
