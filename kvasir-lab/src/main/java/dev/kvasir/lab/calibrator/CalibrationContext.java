package dev.kvasir.lab.calibrator;

import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.LoadedModel;
import java.nio.file.Path;

/**
 * The resources of a running calibration.
 *
 * @param out file of the profile
 * @param workers threads for work that is not split into tasks
 */
public record CalibrationContext(
    LoadedModel model, Path out, WorkerPool workers, Runner runner, CalibrationConsole console) {
  /**
   * Reads the profile as it is now: a calibration takes long, and other parts may have been added
   * meanwhile.
   *
   * @throws dev.kvasir.error.InvalidInputException if it is another model's
   */
  public Profile profile() {
    return Profile.openOrEmpty(out, model.fingerprint(), model.name());
  }

  /** Returns the file next to the profile with a longer name. */
  public Path sibling(String ending) {
    return out.resolveSibling(out.getFileName() + ending);
  }
}
