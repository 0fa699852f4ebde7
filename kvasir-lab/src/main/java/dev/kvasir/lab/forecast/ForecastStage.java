package dev.kvasir.lab.forecast;

/**
 * A part of a work.
 *
 * @param name what is done, in words
 * @param pieces that may run on different machines
 * @param operations of all pieces
 */
public record ForecastStage(String name, ComputeKind kind, int tasks, double operations) {
  /**
   * @param speed operations a second of a machine's threads together
   * @param machines that share the pieces, each as fast
   */
  public double seconds(double speed, int threads, int machines) {
    if (tasks == 0) {
      return 0;
    }
    int parallel = kind == ComputeKind.TRAINING ? machines * threads : machines;
    double ofOne = kind == ComputeKind.TRAINING ? speed / threads : speed;
    return Math.ceilDiv(tasks, parallel) * (operations / tasks) / ofOne;
  }
}
