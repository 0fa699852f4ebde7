package dev.kvasir.spark;

import dev.kvasir.error.InvalidInputException;
import java.util.Locale;
import org.apache.spark.SparkConf;

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
