package dev.kvasir.spark;

import dev.kvasir.error.InvalidInputException;
import java.time.Duration;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.status.api.v1.ExecutorSummary;
import scala.jdk.javaapi.CollectionConverters;

/** Who works for a driver: this process itself, or executors that come and may be lost. */
final class Cluster {
  /** For as many executors as were asked for, and where all are lost, for the next. */
  static final Duration TIMEOUT = Duration.ofMinutes(2);

  /** After which no further one is waited for. */
  private static final Duration POLL_INTERVAL = Duration.ofMillis(500);

  /** What Spark lists the driver as, among executors. */
  private static final String DRIVER = "driver";

  /** What settings of executors that come and go with jobs begin with. */
  private static final String DYNAMIC = "spark.dynamicAllocation.";

  /** More cores than a plan has pieces, at which nobody has to count further. */
  private static final int MAX_CORES = 1 << 16;

  private final SparkContext spark;
  private final String master;
  private final boolean local;
  private final Duration timeout;
  private boolean ready; // whether executors have come
  private long lastSeenNanos; // when there was one, by the clock of nanoTime

  /**
   * @param place the master, as typed
   * @param local whether pieces run in this process
   * @param patience where all executors are lost
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

  /** Pieces that run at the same time. */
  int slots() {
    await();
    int cores = local ? spark.defaultParallelism() : Math.max(executorCores(), maxDynamicCores());
    return Math.max(1, cores / taskCores());
  }

  /** Pieces that run at the same time in one executor. */
  int slotsPerExecutor() {
    await();
    return executors() == 0
        ? Math.max(1, coresPerExecutor() / taskCores())
        : Math.ceilDiv(Math.max(1, executorCores() / taskCores()), executors());
  }

  /** Threads of a piece. */
  int taskCores() {
    return conf().getInt("spark.task.cpus", 1);
  }

  private SparkConf conf() {
    return spark.getConf();
  }

  /** Those that have come: Spark's own count is never below two. */
  private int executorCores() {
    return CollectionConverters.asJava(spark.statusStore().executorList(true)).stream()
        .filter(executor -> !executor.id().equals(DRIVER))
        .mapToInt(ExecutorSummary::totalCores)
        .sum();
  }

  /** With a bound of its own; without one, work that waits brings them, and they are counted. */
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

  /** Executors that come before there are jobs. */
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

  /** The driver is listed among them. */
  private int executors() {
    return spark.statusTracker().getExecutorInfos().length - 1;
  }

  /** Once: later ones find the work cut already. */
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

  /** From here on, nobody being there counts. */
  void begin() {
    lastSeenNanos = System.nanoTime();
  }

  /** Refuses to wait for ever: Spark itself would, for executors that never come back. */
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
