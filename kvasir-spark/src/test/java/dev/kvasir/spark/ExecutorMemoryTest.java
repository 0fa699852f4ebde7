package dev.kvasir.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.spark.SparkRunner.ExecutorMemory;
import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class ExecutorMemoryTest {
  private static final long MIB = 1 << 20;

  @Test
  void availableMemoryIsHeapAndOverhead() {
    SparkConf conf = new SparkConf(false);
    assertThat(ExecutorMemory.available(conf)).isEqualTo((1024 + 384) * MIB);
    conf.set("spark.executor.memory", "8g");
    assertThat(ExecutorMemory.available(conf)).isEqualTo((8192 + 819) * MIB);
    conf.set("spark.executor.memoryOverhead", "2g").set("spark.memory.offHeap.enabled", "true");
    conf.set("spark.memory.offHeap.size", "1g");
    assertThat(ExecutorMemory.available(conf)).isEqualTo((8192 + 2048 + 1024) * MIB);
  }

  @Test
  void tooMuchMemoryIsRejectedBeforeAnyWork() {
    SparkConf conf = new SparkConf(false);
    assertThatNoException()
        .isThrownBy(() -> new ExecutorMemory(500 * MIB, 99 * MIB, 4).requireWithin(conf));
    assertThatThrownBy(() -> new ExecutorMemory(500 * MIB, 100 * MIB, 4).requireWithin(conf))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "an executor would take 1,412 MiB (weights 500 MiB, 100 MiB for each of 4 tasks at a"
                + " time, 512 MiB for the rest); spark.executor.memory and"
                + " spark.executor.memoryOverhead give it 1,408 MiB");
  }
}
