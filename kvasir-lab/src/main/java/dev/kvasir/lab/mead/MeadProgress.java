package dev.kvasir.lab.mead;

import dev.kvasir.lab.ProgressListener;

/** Reports the phases of a calibration. */
public interface MeadProgress {
  /** Starts a named phase and returns its listener. */
  ProgressListener beginPhase(String work);
}
