package dev.kvasir.lab.forecast;

/**
 * A part of a work.
 *
 * @param name what is done, in words
 * @param pieces that may run on different machines
 * @param operations of all pieces
 */
public record Stage(String name, Effort effort, int pieces, double operations) {
  /**
   * @param speed operations a second of a machine's threads together
   * @param machines that share the pieces, each as fast
   */
  public double seconds(double speed, int threads, int machines) {
    if (pieces == 0) {
      return 0;
    }
    int atATime = effort == Effort.TRAINING ? machines * threads : machines;
    double ofOne = effort == Effort.TRAINING ? speed / threads : speed;
    return Math.ceilDiv(pieces, atATime) * (operations / pieces) / ofOne;
  }
}
