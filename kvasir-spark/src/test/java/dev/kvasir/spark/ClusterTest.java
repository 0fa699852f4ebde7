package dev.kvasir.spark;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.api.Test;

class ClusterTest {
  @Test
  void requestedExecutorsAreAwaitedAtLeastOne() {
    SparkConf conf = new SparkConf(false);
    assertThat(Cluster.expectedExecutors(conf)).isEqualTo(1);
    assertThat(Cluster.expectedExecutors(conf.set("spark.executor.instances", "3"))).isEqualTo(3);
  }

  @Test
  void dynamicExecutorsAreNotAwaited() {
    SparkConf conf = new SparkConf(false).set("spark.dynamicAllocation.enabled", "true");
    assertThat(Cluster.expectedExecutors(conf)).isZero();
    conf.set("spark.dynamicAllocation.minExecutors", "2");
    assertThat(Cluster.expectedExecutors(conf)).isEqualTo(2);
  }
}
