/**
 * What {@code kvasir calibrate} runs: a {@link dev.kvasir.lab.calibrator.Calibrator} checks its
 * options and plans the work, which receives its resources as a {@link
 * dev.kvasir.lab.calibrator.CalibrationContext}. {@link dev.kvasir.lab.calibrator.Calibrators}
 * finds them by the service loader; each of Kvasir's own has a package below this one. Uses the lab
 * packages forecast, report, task, text and work.
 */
package dev.kvasir.lab.calibrator;
