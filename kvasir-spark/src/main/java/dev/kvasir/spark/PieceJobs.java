package dev.kvasir.spark;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Piece;
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
final class PieceJobs<R extends Serializable> {
  /** Jobs for each place, counted from the first piece that is not delivered. */
  private static final int AHEAD = 2;

  private static final Duration GLANCE = Duration.ofMillis(20);

  /** How far hooks of one process may be apart. */
  private static final Duration HOOKS = Duration.ofMillis(500);

  /** A piece on its way. */
  private record Job(int index, Piece<?> piece, JavaFutureAction<List<Outcome>> outcome) {}

  private final JavaSparkContext spark;
  private final PieceTask task;
  private final Workforce workforce;
  private final List<? extends Piece<? extends R>> pieces;
  private final WorkListener listener;
  private final Delivery<R> delivery;
  private final String group = UUID.randomUUID().toString();
  private final List<Job> running = new LinkedList<>();
  private final BitSet delivered = new BitSet();
  private int submitted;
  private RuntimeException failure; // the first

  PieceJobs(
      JavaSparkContext spark,
      PieceTask task,
      Workforce workforce,
      List<? extends Piece<? extends R>> pieces,
      WorkListener listener,
      Delivery<R> delivery) {
    this.spark = spark;
    this.task = task;
    this.workforce = workforce;
    this.pieces = pieces;
    this.listener = listener;
    this.delivery = delivery;
  }

  /** Whether all were delivered; otherwise the listener ended it. */
  boolean run() {
    double inAll = pieces.stream().mapToDouble(Piece::work).sum();
    workforce.begin();
    try {
      while (delivered.cardinality() < pieces.size()) {
        tell(inAll);
        submitNext();
        deliverDone();
        if (listener.stopped()) {
          deliverDone(); // those that ended while the others were delivered
          return delivered.cardinality() == pieces.size();
        }
        if (failure != null) {
          return endAfterFailure();
        }
        sleep(GLANCE);
      }
    } finally {
      cancel();
    }
    listener.progress(inAll, inAll);
    return true;
  }

  private void submitNext() {
    try {
      workforce.requireSomebody();
      int end = Math.min(pieces.size(), delivered.nextClearBit(0) + AHEAD * workforce.places());
      while (submitted < end && !listener.stopped()) {
        running.add(submit(submitted++));
      }
    } catch (RuntimeException e) { // the context may end at any moment
      failure = e;
    }
  }

  private Job submit(int index) {
    Piece<?> piece = pieces.get(index);
    spark.setJobGroup(group, piece.name(), false);
    return new Job(
        index, piece, spark.parallelize(List.<Piece<?>>of(piece), 1).map(task).collectAsync());
  }

  /** Ctrl-C ends the context by a hook of Spark's own, which may be ahead of the listener's. */
  private boolean endAfterFailure() {
    long start = System.nanoTime();
    while (spark.sc().isStopped() && System.nanoTime() - start < HOOKS.toNanos()) {
      if (listener.stopped()) {
        return false;
      }
      sleep(GLANCE);
    }
    workforce.requireContext();
    throw failure;
  }

  private void tell(double inAll) {
    listener.doing(
        "%d of %d pieces done, next %s"
            .formatted(
                delivered.cardinality(),
                pieces.size(),
                pieces.get(delivered.nextClearBit(0)).name()));
    double done = delivered.stream().mapToDouble(piece -> pieces.get(piece).work()).sum();
    listener.progress(Math.min(done, inAll), inAll);
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
      case Outcome.Done done -> (R) done.result();
      case Outcome.Refused refused -> throw new InvalidInputException(refused.sentence());
      case Outcome.Left _ ->
          throw new InvalidInputException(
              "%s was ended on the cluster by somebody else".formatted(job.piece().name()));
    };
  }

  private static Outcome outcome(Job job) {
    try {
      return job.outcome().get().getFirst();
    } catch (ExecutionException e) {
      throw new IllegalStateException(
          "%s failed on the cluster: %s"
              .formatted(job.piece().name(), SparkPlace.firstLine(e.getCause())),
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
