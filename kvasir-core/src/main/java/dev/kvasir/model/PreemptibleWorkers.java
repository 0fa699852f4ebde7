package dev.kvasir.model;

import dev.kvasir.engine.Preemption;
import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Runs the tasks of a forward pass on a shared pool, in pieces between which other work may run.
 * Parts of a task are independent, so the pieces give the same results. Without a {@link
 * Preemption} it is the pool.
 *
 * <pre>
 * parts   0 1 | 2 3 4 5 | ... other work ... | 6 7
 *         a round: one part for each thread, the smallest piece
 * </pre>
 *
 * <p>The time of a round is estimated from earlier pieces of the same task: those of the layer
 * before are usually as long. An instance serves one forward pass and allocates nothing once it has
 * seen all tasks.
 */
final class PreemptibleWorkers extends WorkerPool {
  /** Shares of an error that correct an estimate: a piece that is too long delays other work. */
  private static final double GAIN_UPWARDS = 0.5;

  private static final double GAIN_DOWNWARDS = 0.1;

  /** The most by which one measurement may exceed an estimate: a pause says nothing. */
  private static final double MAX_GROWTH = 2;

  private final LongSupplier nanoTime;
  private final ParallelTask shifted = this::runShifted;
  private Preemption preemption; // null if nothing may interrupt

  private ParallelTask[] tasks = new ParallelTask[16];
  private double[] roundNanos = new double[16]; // by task
  private double[] longest = new double[16]; // by task, in the current step
  private int known; // number of tasks

  private ParallelTask task;
  private int first; // part of the current piece
  private boolean hasProgressed; // since other work ran

  PreemptibleWorkers(WorkerPool pool) {
    this(pool, System::nanoTime);
  }

  PreemptibleWorkers(WorkerPool pool, LongSupplier nanoTime) {
    super(pool);
    this.nanoTime = nanoTime;
  }

  /** Sets what may interrupt the next tasks; null for nothing. */
  void preemption(Preemption newPreemption) {
    preemption = newPreemption;
    Arrays.fill(longest, 0, known, 0);
  }

  /** Returns the estimated time of the longest round since the last {@link #preemption}. */
  long longestNanos() {
    double nanos = 0;
    for (int i = 0; i < known; i++) {
      nanos = Math.max(nanos, longest[i]);
    }
    return (long) nanos;
  }

  @Override
  public void run(ParallelTask newTask, int parts) {
    if (preemption == null) {
      super.run(newTask, parts);
      return;
    }
    task = newTask;
    int index = indexOf(newTask);
    for (first = 0; first < parts; ) {
      double rounds = roundsLeft(index);
      if (rounds < 1 && hasProgressed) {
        hasProgressed = !preemption.runOthers();
        rounds = roundsLeft(index);
      }
      int size = size();
      int count = Math.min(parts - first, size * Math.clamp((long) rounds, 1, parts));
      long begin = nanoTime.getAsLong();
      super.run(shifted, count);
      record(index, (nanoTime.getAsLong() - begin) / (double) Math.ceilDiv(count, size));
      first += count;
      hasProgressed = true;
    }
    task = null;
  }

  /** Returns the rounds until other work is due; at most one while their time is unknown. */
  private double roundsLeft(int index) {
    long left = preemption.nanosLeft();
    return roundNanos[index] > 0 ? left / roundNanos[index] : Math.min(left, 1);
  }

  private void runShifted(int part, int worker) {
    task.run(first + part, worker);
  }

  private int indexOf(ParallelTask newTask) {
    for (int i = 0; i < known; i++) {
      if (tasks[i] == newTask) {
        return i;
      }
    }
    if (known == tasks.length) {
      tasks = Arrays.copyOf(tasks, 2 * known);
      roundNanos = Arrays.copyOf(roundNanos, 2 * known);
      longest = Arrays.copyOf(longest, 2 * known);
    }
    tasks[known] = newTask;
    return known++;
  }

  private void record(int index, double nanos) {
    double estimate = roundNanos[index];
    if (estimate == 0) {
      roundNanos[index] = nanos;
    } else {
      double error = Math.min(nanos, MAX_GROWTH * estimate) - estimate;
      roundNanos[index] += (error > 0 ? GAIN_UPWARDS : GAIN_DOWNWARDS) * error;
    }
    longest[index] = Math.max(longest[index], roundNanos[index]);
  }
}
