package dev.kvasir.spark;

import dev.kvasir.Model;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.WorkerContext;
import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;
import scala.jdk.javaapi.OptionConverters;

/**
 * Runs each task as a Spark job that has the task's name in the Spark UI. Spark reruns a task that
 * is lost with its executor; other tasks are not affected.
 */
final class SparkRunner implements Runner {
  private final JavaSparkContext spark;
  private final Model model;
  private final TaskFunction function;
  private final Cluster cluster;
  private final FileDistribution distribution;

  /**
   * @param model the model that tasks use where they run in this process
   */
  SparkRunner(
      JavaSparkContext spark,
      Model model,
      TaskFunction function,
      Cluster cluster,
      FileDistribution distribution) {
    this.spark = spark;
    this.model = model;
    this.function = function;
    this.cluster = cluster;
    this.distribution = distribution;
  }

  /** Makes the inputs available where tasks run. */
  void begin() {
    if (cluster.isLocal()) {
      ExecutorContexts.register(function.inputs(), WorkerContext.of(model, cluster.taskCores()));
    } else if (function.distributed()) {
      distribution.add(function.inputs());
      distribution.files().forEach(file -> spark.addFile(file.toString()));
    }
  }

  @Override
  public int parallelism() {
    return cluster.slots();
  }

  @Override
  public <R extends Serializable> boolean run(
      List<? extends LabTask<? extends R>> tasks, ProgressListener listener, Delivery<R> delivery) {
    if (tasks.isEmpty()) {
      return true;
    }
    requireMemory(tasks);
    return new TaskJobs<R>(spark, function, cluster, tasks, listener, delivery).run();
  }

  private void requireMemory(List<? extends LabTask<?>> tasks) {
    if (!cluster.isLocal()) {
      long most = tasks.stream().mapToLong(task -> task.peakBytes(model)).max().orElse(0);
      new ExecutorMemory(model.weightBytes(), most, cluster.slotsPerExecutor())
          .requireWithin(spark.getConf());
    }
  }

  @Override
  public Optional<String> dashboardUrl() {
    return OptionConverters.toJava(spark.sc().uiWebUrl());
  }

  @Override
  public void close() {
    try {
      spark.close();
    } finally {
      distribution.close();
      if (cluster.isLocal()) {
        ExecutorContexts.release(function.inputs());
      }
    }
  }

  /**
   * The memory an executor needs, compared with what its configuration provides.
   *
   * @param weightBytes bytes of the model
   * @param taskBytes upper bound of the off-heap bytes of a task
   * @param tasks number of tasks that run in parallel in one executor
   */
  record ExecutorMemory(long weightBytes, long taskBytes, int tasks) {
    /** The heap, with logits of a step, texts and task data, and the JVM itself. */
    private static final long BASE_BYTES = 512L << 20;

    private static final long MIN_OVERHEAD_MIB = 384;

    long bytes() {
      return weightBytes + tasks * taskBytes + BASE_BYTES;
    }

    void requireWithin(SparkConf conf) {
      long available = available(conf);
      if (bytes() > available) {
        throw new InvalidInputException(
            ("an executor would take %s (weights %s, %s for each of %d tasks at a time, %s for the"
                    + " rest); spark.executor.memory and spark.executor.memoryOverhead give it %s")
                .formatted(
                    mib(bytes()),
                    mib(weightBytes),
                    mib(taskBytes),
                    tasks,
                    mib(BASE_BYTES),
                    mib(available)));
      }
    }

    static long available(SparkConf conf) {
      long heap = conf.getSizeAsMb("spark.executor.memory", "1g");
      double factor = conf.getDouble("spark.executor.memoryOverheadFactor", 0.1);
      long usual = Math.max(MIN_OVERHEAD_MIB, (long) (factor * heap));
      long overhead = conf.getSizeAsMb("spark.executor.memoryOverhead", usual + "m");
      long outside =
          conf.getBoolean("spark.memory.offHeap.enabled", false)
              ? conf.getSizeAsMb("spark.memory.offHeap.size", "0")
              : 0;
      return heap + overhead + outside << 20;
    }

    private static String mib(long bytes) {
      return String.format(Locale.ROOT, "%,d MiB", bytes + (1 << 20) - 1 >> 20);
    }
  }
}
