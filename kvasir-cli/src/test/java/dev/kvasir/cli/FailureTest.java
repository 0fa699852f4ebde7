package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.terminal.Streams;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

class FailureTest {
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final Streams streams =
      new Streams(InputStream.nullInputStream(), print(err), print(err), false, false, false);

  @Command(name = "starve")
  private static final class Starve implements Runnable {
    @Override
    public void run() {
      throw new OutOfMemoryError("Java heap space");
    }
  }

  private static PrintStream print(ByteArrayOutputStream to) {
    return new PrintStream(to, true, StandardCharsets.UTF_8);
  }

  @Test
  void aJvmErrorIsReportedInOneSentence() {
    CommandLine line = Kvasir.commandLine(streams).addSubcommand(new Starve());
    assertThat(Kvasir.run(streams, line, "starve")).isEqualTo(1);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .isEqualTo(
            "kvasir: unexpected java.lang.OutOfMemoryError: Java heap space; run it again with"
                + " --verbose for the details\n");
  }
}
