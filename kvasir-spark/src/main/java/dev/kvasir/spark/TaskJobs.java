package dev.kvasir.spark;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.Runner.Delivery;
import java.io.Serializable;
import java.time.Duration;
import java.util.BitSet;
import java.util.Iterator;
import java.util.LinkedList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * The Spark jobs of a list of tasks. Only enough jobs to keep executors busy are submitted ahead:
 * the driver holds an object for each job, and ordered delivery holds results that arrive early.
 */
final class TaskJobs<R extends Serializable> {
  /** Jobs for each slot, counted from the first undelivered task. */
  private static final int JOBS_PER_SLOT = 2;

  private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

  /** Maximum delay between the shutdown hooks of one process. */
  private static final Duration SHUTDOWN_GRACE = Duration.ofMillis(500);

  /** A submitted task. */
  private record Job(int index, LabTask<?> task, JavaFutureAction<List<TaskOutcome>> outcome) {}

  private final JavaSparkContext spark;
  private final TaskFunction function;
  private final Cluster cluster;
  private final List<? extends LabTask<? extends R>> tasks;
  private final ProgressListener listener;
  private final Delivery<R> delivery;
  private final String group = UUID.randomUUID().toString();
  private final List<Job> running = new LinkedList<>();
  private final BitSet delivered = new BitSet();
  private int submitted;
  private RuntimeException failure; // the first one

  TaskJobs(
      JavaSparkContext spark,
      TaskFunction function,
      Cluster cluster,
      List<? extends LabTask<? extends R>> tasks,
      ProgressListener listener,
      Delivery<R> delivery) {
    this.spark = spark;
    this.function = function;
    this.cluster = cluster;
    this.tasks = tasks;
    this.listener = listener;
    this.delivery = delivery;
  }

  /** Returns whether all results were delivered; otherwise the listener cancelled the run. */
  boolean run() {
    double total = tasks.stream().mapToDouble(LabTask::cost).sum();
    cluster.begin();
    try {
      while (delivered.cardinality() < tasks.size()) {
        reportProgress(total);
        submitNext();
        deliverDone();
        if (listener.isCancelled()) {
          deliverDone(); // those that finished during the other deliveries
          return delivered.cardinality() == tasks.size();
        }
        if (failure != null) {
          return failOrCancel();
        }
        sleep(POLL_INTERVAL);
      }
    } finally {
      cancel();
    }
    listener.progress(total, total);
    return true;
  }

  private void submitNext() {
    try {
      cluster.requireExecutor();
      int end = Math.min(tasks.size(), delivered.nextClearBit(0) + JOBS_PER_SLOT * cluster.slots());
      while (submitted < end && !listener.isCancelled()) {
        running.add(submit(submitted++));
      }
    } catch (RuntimeException e) { // the context may stop at any moment
      failure = e;
    }
  }

  private Job submit(int index) {
    LabTask<?> task = tasks.get(index);
    spark.setJobGroup(group, task.name(), false);
    return new Job(
        index, task, spark.parallelize(List.<LabTask<?>>of(task), 1).map(function).collectAsync());
  }

  /**
   * On Ctrl-C, Spark's own shutdown hook may stop the context before the listener reports the
   * cancellation.
   */
  private boolean failOrCancel() {
    long start = System.nanoTime();
    while (spark.sc().isStopped() && System.nanoTime() - start < SHUTDOWN_GRACE.toNanos()) {
      if (listener.isCancelled()) {
        return false;
      }
      sleep(POLL_INTERVAL);
    }
    cluster.requireContext();
    throw failure;
  }

  private void reportProgress(double total) {
    listener.status(
        "%d of %d tasks done, next %s"
            .formatted(
                delivered.cardinality(),
                tasks.size(),
                tasks.get(delivered.nextClearBit(0)).name()));
    double done = delivered.stream().mapToDouble(index -> tasks.get(index).cost()).sum();
    listener.progress(Math.min(done, total), total);
  }

  /** Delivers results behind a failed task too, because the journal can keep them. */
  private void deliverDone() {
    for (Iterator<Job> jobs = running.iterator(); jobs.hasNext(); ) {
      Job job = jobs.next();
      if (job.outcome().isDone()) {
        jobs.remove();
        deliver(job);
      }
    }
  }

  private void deliver(Job job) {
    R result;
    try {
      result = result(job);
    } catch (RuntimeException e) {
      failure = failure == null ? e : failure;
      return;
    }
    delivered.set(job.index());
    delivery.take(job.index(), result);
  }

  @SuppressWarnings("unchecked") // the result belongs to the job's own task
  private R result(Job job) {
    return switch (outcome(job)) {
      case TaskOutcome.Done done -> (R) done.result();
      case TaskOutcome.Refused refused -> throw new InvalidInputException(refused.message());
      case TaskOutcome.Cancelled _ ->
          throw new InvalidInputException(
              "%s was ended on the cluster by somebody else".formatted(job.task().name()));
    };
  }

  private static TaskOutcome outcome(Job job) {
    try {
      return job.outcome().get().getFirst();
    } catch (ExecutionException e) {
      throw new IllegalStateException(
          "%s failed on the cluster: %s"
              .formatted(job.task().name(), SparkRunnerProvider.firstLine(e.getCause())),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private void cancel() {
    try {
      if (!running.isEmpty() && !spark.sc().isStopped()) {
        spark.sc().cancelJobGroup(group);
      }
    } catch (RuntimeException e) {
      // The context has stopped in the meantime, and the jobs with it.
    }
  }

  static void sleep(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }
}
