package dev.kvasir.lab.calibrator;

import dev.kvasir.lab.calibrate.CalibrationTexts;
import java.util.List;

/**
 * Computes the profile part of one quantization method for {@code kvasir calibrate}. An
 * implementation has a public constructor without parameters and a line in a file {@code
 * META-INF/services/dev.kvasir.lab.calibrator.Calibrator}; its method declares a {@link
 * dev.kvasir.codec.Calibration} with the bit widths it can be calibrated for.
 */
public interface Calibrator {
  /** Returns the name that specs of its method start with. */
  String method();

  /** Returns what it computes, as one sentence of the command's help without the method's name. */
  String description();

  /** Returns the options that only this calibrator has. */
  default List<CalibratorOption<?>> options() {
    return List.of();
  }

  /** Returns the tokens that are read in sequence unless the user states a number. */
  default int defaultLength() {
    return CalibrationTexts.LENGTH;
  }

  /**
   * Returns whether its work is split into tasks, which may run on a cluster and can be resumed. If
   * not, it takes a minute or two in this process and has no forecast.
   */
  boolean isDistributed();

  /**
   * Checks a request before any model is loaded.
   *
   * @throws dev.kvasir.error.InvalidInputException if a value is outside its range
   */
  CalibrationPlan plan(CalibrationRequest request);
}
