package dev.kvasir.lab.work;

import dev.kvasir.Model;
import dev.kvasir.lab.ProgressListener;
import java.io.Serializable;

/**
 * A part of the lab's work that needs no other one: a record of plain data, which is all it reads
 * beside the {@link WorkerContext}. It may run on another machine, beside others or a second time,
 * and its result is always the same bits. What is summed up over pieces, their plan adds in its own
 * order.
 *
 * @param <R> a record or an array of plain data
 */
public interface LabTask<R extends Serializable> extends Serializable {
  /** What it is, in words that a person reads in a terminal and on a cluster's page. */
  String name();

  /** How much there is to do, in units of about equal time; those of a plan are compared. */
  double cost();

  /** Whether one thread computes it however many there are, so that others may run beside it. */
  default boolean singleThreaded() {
    return false;
  }

  /** Bytes that it takes at the most, beside what the model itself does. */
  default long peakBytes(Model model) {
    return 0;
  }

  /**
   * @param listener is told of progress up to {@link #work} and asked between steps
   * @throws WorkCancelledException where the listener asked for it
   * @throws dev.kvasir.error.InvalidInputException where it would be refused everywhere
   */
  R run(WorkerContext context, ProgressListener listener);
}
