package dev.kvasir.spark;

import dev.kvasir.error.InvalidInputException;
import java.util.Locale;
import org.apache.spark.SparkConf;

/**
 * What an executor is going to take, and what it is given.
 *
 * @param weights bytes of the model
 * @param piece bytes that a piece takes at the most outside the heap
 * @param pieces that run at the same time in one executor
 */
record ExecutorMemory(long weightBytes, long taskBytes, int tasks) {
  /** The heap: logits of a step, texts and what pieces bring; and the Java machine itself. */
  private static final long BASE_BYTES = 512L << 20;

  private static final long LEAST_OVERHEAD_MIB = 384;

  long bytes() {
    return weightBytes + tasks * taskBytes + BASE_BYTES;
  }

  void requireWithin(SparkConf conf) {
    long available = available(conf);
    if (bytes() > available) {
      throw new InvalidInputException(
          ("an executor would take %s (weights %s, %s for each of %d pieces at a time, %s beside"
                  + " them); spark.executor.memory and spark.executor.memoryOverhead give it %s")
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
    long usual = Math.max(LEAST_OVERHEAD_MIB, (long) (factor * heap));
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
