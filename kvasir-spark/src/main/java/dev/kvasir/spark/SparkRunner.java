package dev.kvasir.spark;

import dev.kvasir.Model;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Piece;
import dev.kvasir.lab.work.Runner;
import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
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
      PieceJobs.sleep(QUIET);
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
    return new PieceJobs<R>(spark, task, this::sideBySide, pieces, listener, delivery).run();
  }

  private void requireMemory(List<? extends Piece<?>> pieces) {
    if (!local) {
      int atATime = Math.ceilDiv(sideBySide(), Math.max(1, executors()));
      long most = pieces.stream().mapToLong(piece -> piece.bytes(model)).max().orElse(0);
      new ExecutorMemory(model.weightBytes(), most, atATime).requireWithin(spark.getConf());
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
