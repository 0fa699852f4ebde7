package dev.kvasir.cli.lab;

import dev.kvasir.cli.terminal.Interruption;
import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.cli.terminal.Units;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.calibrator.CalibrationConsole;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Shows a calibration on the terminal, with one progress line for each phase. */
final class CalibrationScreen implements CalibrationConsole, AutoCloseable {
  private final Streams streams;
  private final Interruption interruption;
  private ProgressReporter phase; // null outside of phases

  CalibrationScreen(Streams streams, Interruption interruption) {
    this.streams = streams;
    this.interruption = interruption;
  }

  @Override
  public ProgressListener beginPhase(String name) {
    close();
    phase = new ProgressReporter(streams, name, interruption);
    return phase;
  }

  @Override
  public PrintStream out() {
    close();
    return streams.out();
  }

  @Override
  public void note(String line) {
    close();
    streams.note(line);
  }

  @Override
  public void noteSize(Path file) {
    try {
      note("%s has %s".formatted(file, Units.bytes(Files.size(file))));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Ends the current phase. */
  @Override
  public void close() {
    if (phase != null) {
      phase.close();
      phase = null;
    }
  }
}
