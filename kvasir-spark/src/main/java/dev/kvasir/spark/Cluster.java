package dev.kvasir.spark;

import dev.kvasir.error.InvalidInputException;
import java.time.Duration;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.status.api.v1.ExecutorSummary;
import scala.jdk.javaapi.CollectionConverters;

/** The workers of a Spark driver: this process itself, or executors that join and may be lost. */
final class Cluster {
  /** Time to wait for the requested executors, and for a new one after all are lost. */
  static final Duration TIMEOUT = Duration.ofMinutes(2);

  /** Waiting ends when no further executor joins within this time. */
  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

  /** The id under which Spark lists the driver among executors. */
  private static final String DRIVER = "driver";

  /** Prefix of the settings for dynamically allocated executors. */
  private static final String DYNAMIC = "spark.dynamicAllocation.";

  /** Upper bound of counted cores, above the number of tasks in any plan. */
  private static final int MAX_CORES = 1 << 16;

  private final SparkContext spark;
  private final String master;
  private final boolean local;
  private final Duration timeout;
  private boolean ready; // whether executors have joined
  private long lastSeenNanos; // System.nanoTime when an executor was last present

  /**
   * @param master master URL, as typed
   * @param local whether tasks run in this process
   * @param timeout how long to wait after all executors are lost
   */
  Cluster(SparkContext spark, String master, boolean local, Duration timeout) {
    this.spark = spark;
    this.master = master;
    this.local = local;
    this.timeout = timeout;
  }

  boolean isLocal() {
    return local;
  }

  /** Returns how many tasks run in parallel. */
  int slots() {
    await();
    int cores = local ? spark.defaultParallelism() : Math.max(executorCores(), maxDynamicCores());
    return Math.max(1, cores / taskCores());
  }

  /** Returns how many tasks run in parallel in one executor. */
  int slotsPerExecutor() {
    await();
    return executors() == 0
        ? Math.max(1, coresPerExecutor() / taskCores())
        : Math.ceilDiv(Math.max(1, executorCores() / taskCores()), executors());
  }

  int taskCores() {
    return conf().getInt("spark.task.cpus", 1);
  }

  private SparkConf conf() {
    return spark.getConf();
  }

  /** Counts the cores of executors that have joined; Spark's own count is never below two. */
  private int executorCores() {
    return CollectionConverters.asJava(spark.statusStore().executorList(true)).stream()
        .filter(executor -> !executor.id().equals(DRIVER))
        .mapToInt(ExecutorSummary::totalCores)
        .sum();
  }

  /**
   * Returns the configured upper bound of dynamically allocated cores. Without a bound, pending
   * work brings executors, which {@link #executorCores} counts.
   */
  private int maxDynamicCores() {
    long most = isDynamic(conf()) ? conf().getInt(DYNAMIC + "maxExecutors", 0) : 0;
    return Math.clamp(most * coresPerExecutor(), 0, MAX_CORES);
  }

  private int coresPerExecutor() {
    return conf().getInt("spark.executor.cores", 1);
  }

  private static boolean isDynamic(SparkConf conf) {
    return conf.getBoolean(DYNAMIC + "enabled", false);
  }

  /** Returns how many executors join before there are jobs. */
  static int expectedExecutors(SparkConf conf) {
    if (!isDynamic(conf)) {
      return Math.max(1, conf.getInt("spark.executor.instances", 1));
    }
    return Stream.of(
            "spark.executor.instances", DYNAMIC + "initialExecutors", DYNAMIC + "minExecutors")
        .mapToInt(key -> conf.getInt(key, 0))
        .max()
        .getAsInt();
  }

  /** Subtracts one because Spark lists the driver too. */
  private int executors() {
    return spark.statusTracker().getExecutorInfos().length - 1;
  }

  /** Waits once: executors that join later find the work already split. */
  private void await() {
    if (local || ready) {
      return;
    }
    int expected = expectedExecutors(conf());
    long start = System.nanoTime();
    int present = 0;
    while (!spark.isStopped()
        && (present < expected && since(start).compareTo(TIMEOUT) < 0 || present < executors())) {
      present = executors();
      TaskJobs.sleep(POLL_INTERVAL);
    }
    requireContext();
    if (present == 0 && expected > 0) {
      throw new InvalidInputException(
          "--on is '%s', where no executor came within %d s; its workers' logs may say why"
              .formatted(master, since(start).toSeconds()));
    }
    ready = true;
  }

  /** Starts the clock that {@link #requireExecutor} checks. */
  void begin() {
    lastSeenNanos = System.nanoTime();
  }

  /** Fails after the timeout without executors; Spark itself would wait forever. */
  void requireExecutor() {
    requireContext();
    if (local || executors() > 0) {
      lastSeenNanos = System.nanoTime();
    } else if (since(lastSeenNanos).compareTo(timeout) > 0) {
      throw new InvalidInputException(
          "--on is '%s', where no executor has been for %d s; its workers' logs may say why"
              .formatted(master, since(lastSeenNanos).toSeconds()));
    }
  }

  void requireContext() {
    if (spark.isStopped()) {
      throw new InvalidInputException(
          "--on is '%s', which has ended the work of this command; its master's log may say why"
              .formatted(master));
    }
  }

  private static Duration since(long start) {
    return Duration.ofNanos(System.nanoTime() - start);
  }
}
