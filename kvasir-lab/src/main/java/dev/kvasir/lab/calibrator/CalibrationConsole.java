package dev.kvasir.lab.calibrator;

import dev.kvasir.lab.ProgressListener;
import java.io.PrintStream;
import java.nio.file.Path;

/** What a calibration shows to its user. Printing ends the current phase. */
public interface CalibrationConsole {
  /** Starts a named phase and returns its listener, which tells whether the user cancels. */
  ProgressListener beginPhase(String name);

  /** Returns the stream for results. */
  PrintStream out();

  /** Prints a note apart from the results. */
  void note(String line);

  void noteSize(Path file);
}
