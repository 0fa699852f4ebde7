package dev.kvasir.engine;

/**
 * The time between two tokens of a request that is planned for while prompts are read, in usual
 * times. One in a hundred times may exceed {@link #TAIL}: each that does lowers what is planned
 * for, the others raise it. Where everything takes as long as estimated, prompts get more time than
 * on a machine with other work.
 */
final class PlannedSlowdown {
  private static final double TAIL = 2.5;

  /** Beyond this it was a pause of the machine, whatever was planned. */
  private static final double PAUSE = 5;

  private static final double MIN = 1.5;
  private static final double MAX = 2;
  private static final double STEP = 0.05;
  private static final double GROWTH = STEP / 99;

  private double value = MAX;

  double value() {
    return value;
  }

  /**
   * Records a time between two tokens.
   *
   * @param ratio of that time to the usual one
   */
  void record(double ratio) {
    if (ratio < PAUSE) {
      value = Math.clamp(value + (ratio > TAIL ? -STEP : GROWTH), MIN, MAX);
    }
  }
}
