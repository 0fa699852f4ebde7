package dev.kvasir.spark;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.spark.SparkRunnerProvider.LocalMaster;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LocalMasterTest {
  @Test
  void masterUrlDeterminesParallelism() {
    assertThat(parallelism("local")).isEqualTo(1);
    assertThat(parallelism("local[6]")).isEqualTo(6);
    assertThat(parallelism("local[6, 2]")).isEqualTo(6);
    assertThat(parallelism("local[*]")).isEqualTo(Runtime.getRuntime().availableProcessors());
    assertThat(parallelism("local[0]")).isEqualTo(1);
    assertThat(parallelism("spark://head:7077")).isEqualTo(1);
  }

  @Test
  void taskCanHaveSeveralThreads() {
    assertThat(LocalMaster.parallelism("local[6]", Map.of("spark.task.cpus", "4"))).isEqualTo(1);
    assertThat(LocalMaster.parallelism("local[6]", Map.of("spark.task.cpus", "8"))).isEqualTo(1);
    assertThat(LocalMaster.parallelism("local[6]", Map.of("spark.task.cpus", "2"))).isEqualTo(3);
    assertThat(LocalMaster.parallelism("local[6]", Map.of("spark.task.cpus", "two"))).isEqualTo(6);
  }

  private static int parallelism(String master) {
    return LocalMaster.parallelism(master, Map.of());
  }
}
