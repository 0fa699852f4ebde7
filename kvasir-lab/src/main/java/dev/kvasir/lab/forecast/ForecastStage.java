package dev.kvasir.lab.forecast;

/**
 * A stage of the work.
 *
 * @param name readable description
 * @param tasks tasks that may run on different machines
 * @param operations operations of all tasks
 */
public record ForecastStage(String name, ComputeKind kind, int tasks, double operations) {
  /**
   * @param speed operations per second of a machine's threads together
   * @param machines number of equally fast machines that share the tasks
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
