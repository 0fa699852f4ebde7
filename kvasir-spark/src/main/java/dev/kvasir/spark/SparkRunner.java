package dev.kvasir.spark;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.LabTask;
import dev.kvasir.lab.work.Runner;
import dev.kvasir.lab.work.WorkerContext;
import dev.kvasir.runtime.LoadedModel;
import java.io.Serializable;
import java.util.List;
import java.util.Optional;
import org.apache.spark.api.java.JavaSparkContext;
import scala.jdk.javaapi.OptionConverters;

/**
 * Runs each task as a Spark job that has the task's name in the Spark UI. Spark reruns a task that
 * is lost with its executor; other tasks are not affected.
 */
final class SparkRunner implements Runner {
  private final JavaSparkContext spark;
  private final LoadedModel model;
  private final TaskFunction function;
  private final Cluster cluster;
  private final FileDistribution distribution;

  /**
   * @param model the model that tasks use where they run in this process
   */
  SparkRunner(
      JavaSparkContext spark,
      LoadedModel model,
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
}
