package dev.kvasir.spark;

import dev.kvasir.Model;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Runner;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.apache.spark.api.java.JavaFutureAction;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.status.api.v1.ExecutorSummary;
import scala.jdk.javaapi.CollectionConverters;
import scala.jdk.javaapi.OptionConverters;

/**
 * Runs each piece as a job of its own, which has the piece's name on Spark's page. Spark runs a
 * piece again that was lost with its executor; others are not touched by that.
 */
final class SparkRunner implements Runner {
  /** For the first executor. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** For as many as were asked for. */
  private static final Duration PATIENCE_FOR_MORE = Duration.ofSeconds(30);

  /** After which no further one is waited for. */
  private static final Duration QUIET = Duration.ofMillis(500);

  /** What Spark lists the driver as, among executors. */
  private static final String DRIVER = "driver";

  private static final Duration GLANCE = Duration.ofMillis(20);

  private final JavaSparkContext spark;
  private final Model model;
  private final PieceTask task;
  private final String place;
  private final boolean local;
  private boolean met; // whether executors have come

  /**
   * @param place the master, as typed
   * @param local whether pieces run in this process, with this very model
   */
  SparkRunner(JavaSparkContext spark, Model model, PieceTask task, String place, boolean local) {
    this.spark = spark;
    this.model = model;
    this.task = task;
    this.place = place;
    this.local = local;
  }

  @Override
  public int sideBySide() {
    awaitExecutors();
    int cores = local ? spark.sc().defaultParallelism() : coresOfExecutors();
    return Math.max(1, cores / taskCores());
  }

  private int taskCores() {
    return spark.getConf().getInt("spark.task.cpus", 1);
  }

  /** Those that have come: Spark's own count is never below two. */
  private int coresOfExecutors() {
    return CollectionConverters.asJava(spark.sc().statusStore().executorList(true)).stream()
        .filter(executor -> !executor.id().equals(DRIVER))
        .mapToInt(ExecutorSummary::totalCores)
        .sum();
  }

  /** The driver is listed among them. */
  private int executors() {
    return spark.sc().statusTracker().getExecutorInfos().length - 1;
  }

  /** Once: later ones find the work cut already. */
  private void awaitExecutors() {
    if (local || met) {
      return;
    }
    int wanted = spark.getConf().getInt("spark.executor.instances", 1);
    long start = System.nanoTime();
    int seen = 0;
    while (!spark.sc().isStopped()
        && (seen == 0 && since(start).compareTo(PATIENCE) < 0
            || seen < wanted && since(start).compareTo(PATIENCE_FOR_MORE) < 0
            || seen < executors())) {
      seen = executors();
      sleep(QUIET);
    }
    if (seen == 0) {
      throw new InvalidInputException(
          "--on is '%s', where no executor came within %d s; its workers' logs may say why"
              .formatted(place, since(start).toSeconds()));
    }
    met = true;
  }

  private static Duration since(long start) {
    return Duration.ofNanos(System.nanoTime() - start);
  }

  @Override
  public <R extends Serializable> boolean run(
      List<? extends Piece<? extends R>> pieces, WorkListener listener, Delivery<R> delivery) {
    if (pieces.isEmpty()) {
      return true;
    }
    requireMemory(pieces);
    String group = UUID.randomUUID().toString();
    List<Job> running = new ArrayList<>();
    try {
      for (int i = 0; i < pieces.size(); i++) {
        running.add(submit(group, i, pieces.get(i)));
      }
      return collect(running, pieces, listener, delivery);
    } finally {
      if (!running.isEmpty() && !spark.sc().isStopped()) {
        spark.sc().cancelJobGroup(group);
      }
    }
  }

  private void requireMemory(List<? extends Piece<?>> pieces) {
    if (!local) {
      int atATime = Math.ceilDiv(sideBySide(), Math.max(1, executors()));
      long most = pieces.stream().mapToLong(piece -> piece.bytes(model)).max().orElse(0);
      new ExecutorMemory(model.weightBytes(), most, atATime).requireWithin(spark.getConf());
    }
  }

  /** A piece on its way. */
  private record Job(int index, Piece<?> piece, JavaFutureAction<List<Outcome>> outcome) {}

  private Job submit(String group, int index, Piece<?> piece) {
    spark.setJobGroup(group, piece.name(), false);
    return new Job(
        index, piece, spark.parallelize(List.<Piece<?>>of(piece), 1).map(task).collectAsync());
  }

  /** Takes jobs from the list as they end; those that are left are to be cancelled. */
  private <R extends Serializable> boolean collect(
      List<Job> running,
      List<? extends Piece<? extends R>> pieces,
      WorkListener listener,
      Delivery<R> delivery) {
    double inAll = pieces.stream().mapToDouble(Piece::work).sum();
    double done = 0;
    while (!running.isEmpty()) {
      listener.doing(
          "%d of %d pieces done, next %s"
              .formatted(
                  pieces.size() - running.size(),
                  pieces.size(),
                  running.getFirst().piece().name()));
      listener.progress(Math.min(done, inAll), inAll);
      if (listener.stopped()) {
        return false;
      }
      for (Iterator<Job> jobs = running.iterator(); jobs.hasNext(); ) {
        Job job = jobs.next();
        if (job.outcome().isDone()) {
          jobs.remove();
          done += job.piece().work();
          deliver(job, delivery);
        }
      }
      sleep(GLANCE);
    }
    listener.progress(inAll, inAll);
    return true;
  }

  @SuppressWarnings("unchecked") // the result is that of the job's own piece
  private <R extends Serializable> void deliver(Job job, Delivery<R> delivery) {
    switch (outcome(job)) {
      case Outcome.Done done -> delivery.take(job.index(), (R) done.result());
      case Outcome.Refused refused -> throw new InvalidInputException(refused.sentence());
      case Outcome.Left left ->
          throw new InvalidInputException(
              "%s was ended on the cluster by somebody else".formatted(job.piece().name()));
    }
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

  private static void sleep(Duration time) {
    try {
      Thread.sleep(time);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Optional<String> page() {
    return OptionConverters.toJava(spark.sc().uiWebUrl());
  }

  @Override
  public void close() {
    spark.close();
    if (local) {
      ExecutorSites.takeBack(task.materials());
    }
  }
}
