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
 * The jobs of a list of pieces. Only so many are on their way as keep executors busy: the driver
 * holds a job for each, and who wants results in order holds those that came early.
 */
final class TaskJobs<R extends Serializable> {
  /** Jobs for each place, counted from the first piece that is not delivered. */
  private static final int JOBS_PER_SLOT = 2;

  private static final Duration POLL_INTERVAL = Duration.ofMillis(20);

  /** How far hooks of one process may be apart. */
  private static final Duration SHUTDOWN_GRACE = Duration.ofMillis(500);

  /** A piece on its way. */
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
  private RuntimeException failure; // the first

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

  /** Whether all were delivered; otherwise the listener ended it. */
  boolean run() {
    double total = tasks.stream().mapToDouble(LabTask::cost).sum();
    cluster.begin();
    try {
      while (delivered.cardinality() < tasks.size()) {
        reportProgress(total);
        submitNext();
        deliverDone();
        if (listener.isCancelled()) {
          deliverDone(); // those that ended while the others were delivered
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
    } catch (RuntimeException e) { // the context may end at any moment
      failure = e;
    }
  }

  private Job submit(int index) {
    LabTask<?> task = tasks.get(index);
    spark.setJobGroup(group, task.name(), false);
    return new Job(
        index, task, spark.parallelize(List.<LabTask<?>>of(task), 1).map(function).collectAsync());
  }

  /** Ctrl-C ends the context by a hook of Spark's own, which may be ahead of the listener's. */
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
        "%d of %d pieces done, next %s"
            .formatted(
                delivered.cardinality(),
                tasks.size(),
                tasks.get(delivered.nextClearBit(0)).name()));
    double done = delivered.stream().mapToDouble(piece -> tasks.get(piece).cost()).sum();
    listener.progress(Math.min(done, total), total);
  }

  /** Also what lies behind a failure: it was paid for, and the journal wants it. */
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

  @SuppressWarnings("unchecked") // it is that of the job's own piece
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
      // The context has ended in between, and the jobs with it.
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
