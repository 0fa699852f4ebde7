package dev.kvasir.lab.work;

import dev.kvasir.lab.ProgressListener;
import java.io.Serializable;
import java.util.List;
import java.util.Optional;

/** Runs tasks on workers that have the inputs the tasks need. */
public interface Runner extends AutoCloseable {
  /** Receives the results of tasks. */
  @FunctionalInterface
  interface Delivery<R> {
    /**
     * @param index index of the task in the list
     */
    void take(int index, R result);
  }

  /**
   * Returns how many tasks run in parallel; a plan may split its work more finely for a larger
   * number.
   */
  default int parallelism() {
    return 1;
  }

  /**
   * Runs tasks. Each result is delivered once, in any order. Deliveries and reports to the listener
   * come one at a time, on the calling thread.
   *
   * @param listener receives progress up to the cost of all tasks
   * @return false if the listener cancelled the run; results finished until then have been
   *     delivered
   * @throws dev.kvasir.error.InvalidInputException if a task was rejected
   */
  <R extends Serializable> boolean run(
      List<? extends LabTask<? extends R>> tasks, ProgressListener listener, Delivery<R> delivery);

  /** Returns the URL of a page that shows the progress, if there is one. */
  default Optional<String> dashboardUrl() {
    return Optional.empty();
  }

  @Override
  default void close() {}
}
