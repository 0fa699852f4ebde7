package dev.kvasir.lab.work;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.runtime.LoadedModel;
import java.io.Serializable;

/**
 * An independent unit of lab work: a record of plain data that reads nothing else except the {@link
 * WorkerContext}. It may run on another machine, in parallel with others, or a second time, and
 * always produces bit-identical results. A plan combines the results of its tasks in a fixed order.
 *
 * @param <R> a record or an array of plain data
 */
public interface LabTask<R extends Serializable> extends Serializable {
  /** Returns a readable name for the terminal and the dashboard of a cluster. */
  String name();

  /** Returns the amount of work in units of about equal time, comparable within one plan. */
  double cost();

  /**
   * Returns whether the task uses a single thread regardless of how many are available, so that
   * several can run in parallel.
   */
  default boolean singleThreaded() {
    return false;
  }

  /** Returns an upper bound of the bytes the task needs in addition to the model. */
  default long peakBytes(LoadedModel model) {
    return 0;
  }

  /**
   * Runs the task.
   *
   * @param listener receives progress up to {@link #cost} and is polled between steps
   * @throws WorkCancelledException if the listener cancels the task
   * @throws dev.kvasir.error.InvalidInputException if the task would be rejected on every machine
   */
  R run(WorkerContext context, ProgressListener listener);
}
