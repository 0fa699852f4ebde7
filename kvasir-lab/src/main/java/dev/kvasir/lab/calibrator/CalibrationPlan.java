package dev.kvasir.lab.calibrator;

import dev.kvasir.lab.forecast.Concurrency;
import dev.kvasir.lab.forecast.Forecast;
import dev.kvasir.model.ModelConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.function.ToIntFunction;

/** A calibration with checked settings. */
public interface CalibrationPlan {
  /**
   * Returns what it takes. Only called if the calibrator is {@link Calibrator#isDistributed()}.
   *
   * @param tokens counts the tokens of a text
   */
  default Forecast forecast(
      ModelConfig config, ToIntFunction<String> tokens, Concurrency concurrency) {
    throw new UnsupportedOperationException("has no forecast");
  }

  /**
   * Returns the files and folders that an interrupted run leaves next to its result.
   *
   * @param out file of the result
   */
  default List<Path> resumeFiles(Path out) {
    return List.of();
  }

  /**
   * Runs the calibration and writes the profile.
   *
   * @return false if the user cancelled it
   */
  boolean run(CalibrationContext context);
}
