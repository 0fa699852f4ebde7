package dev.kvasir.lab.mead;

import dev.kvasir.lab.ProgressListener;

/** What a calibration is at, and whether it should go on. */
public interface MeadProgress {
  /** Work begins that has a name of its own; it is told how far it has come. */
  ProgressListener beginPhase(String work);
}
