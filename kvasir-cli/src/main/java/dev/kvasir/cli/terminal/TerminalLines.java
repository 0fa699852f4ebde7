package dev.kvasir.cli.terminal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Optional;
import org.jline.reader.EndOfFileException;
import org.jline.reader.LineReader;
import org.jline.reader.LineReaderBuilder;
import org.jline.reader.UserInterruptException;
import org.jline.reader.impl.DefaultParser;
import org.jline.terminal.Terminal;
import org.jline.terminal.Terminal.Signal;
import org.jline.terminal.TerminalBuilder;

/** Lines typed at a terminal, with editing and a history that is not saved. */
final class TerminalLines implements LineSource {
  private final Terminal terminal;
  private final LineReader reader;
  private final String prompt;

  TerminalLines(Streams streams) {
    try {
      this.terminal = TerminalBuilder.builder().system(true).dumb(true).build();
    } catch (IOException e) {
      throw new UncheckedIOException("the terminal cannot be opened", e);
    }
    // Apostrophes, backslashes and exclamation marks are text here, not shell syntax.
    this.reader =
        LineReaderBuilder.builder()
            .terminal(terminal)
            .parser(new DefaultParser().quoteChars(new char[0]).escapeChars(new char[0]))
            .option(LineReader.Option.DISABLE_EVENT_EXPANSION, true)
            .variable(LineReader.BELL_STYLE, "none")
            .build();
    this.prompt = streams.outHasColours() ? "\u001b[1m> \u001b[0m" : "> ";
  }

  @Override
  public Optional<String> next() {
    while (true) {
      try {
        return Optional.of(reader.readLine(prompt));
      } catch (UserInterruptException e) {
        // Ctrl-C at the prompt discards the line.
        continue;
      } catch (EndOfFileException e) {
        return Optional.empty();
      }
    }
  }

  @Override
  public void onInterrupt(Runnable action) {
    terminal.handle(Signal.INT, signal -> action.run());
  }

  @Override
  public void close() {
    try {
      terminal.close();
    } catch (IOException e) {
      throw new UncheckedIOException("the terminal cannot be closed", e);
    }
  }
}
