package dev.kvasir.lab.calibrate;

/** Follows a calibration while it runs, on the thread that runs it. */
public interface CalibrationListener {
  /** Hears nothing and never stops. */
  CalibrationListener NONE = (done, inAll) -> {};

  /** How much of the work is done, in units of about equal time. */
  void progress(double done, double inAll);

  /** Asked between layers; true ends the calibration there, without a result. */
  default boolean stopped() {
    return false;
  }
}
