package dev.kvasir.methods.ranked;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.Page;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.MemoryPool;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ReceivedAttentionTest {
  private static final int DIM = 4;
  private static final RankedSizes SIZES = new RankedSizes(1, 1, DIM, DIM, 1);

  @Test
  void theTokenMatchingQueriesReceivesMost() {
    float[] keys = new float[Page.TOKENS * DIM];
    keys[17 * DIM] = 6;
    double[] received = received(AttentionAggregation.MEAN, keys, 1000, 1001);
    assertThat(received[17]).isGreaterThan(10 * received[16]);
    assertThat(Arrays.stream(received).sum()).isBetween(0.999, 1.001);
  }

  /** All keys are equal, so a query attends equally to all tokens up to its own. */
  @Test
  void theSumFavoursEarlyTokensAndTheMeanDoesSoLess() {
    float[] keys = new float[Page.TOKENS * DIM];
    double[] sum = received(AttentionAggregation.SUM, keys, 9, 19);
    assertThat(sum[0]).isEqualTo(0.1 + 0.05);
    assertThat(sum[15]).isEqualTo(0.05);
    assertThat(sum[20]).isZero();
    double[] mean = received(AttentionAggregation.MEAN, keys, 9, 19);
    assertThat(mean[0]).isEqualTo((0.1 + 0.05) / 2);
    assertThat(mean[15]).isEqualTo(0.05);
  }

  @Test
  void theMostRecentQueriesStayInAnyOrderOfArrival() {
    RecentQueries recent = new RecentQueries(2, DIM, MemoryPool.unlimited());
    for (int position : new int[] {7, 4, 6, 5}) {
      recent.add(position, new float[] {position, 0, 0, 0}, 0);
    }
    assertThat(recent.position(0)).isEqualTo(6);
    assertThat(recent.position(1)).isEqualTo(7);
    float[] query = new float[DIM];
    recent.read(1, 0, DIM, query, 0);
    assertThat(query).containsExactly(7, 0, 0, 0);
    recent.truncate(7);
    assertThat(recent.position(1)).isNegative();
    recent.close();
  }

  private static double[] received(
      AttentionAggregation aggregation, float[] keys, int... positions) {
    RecentQueries recent = new RecentQueries(32, DIM, MemoryPool.unlimited());
    for (int position : positions) {
      recent.add(position, new float[] {3, 0, 0, 0}, 0);
    }
    ReceivedAttention attention =
        new ReceivedAttention(new ScalarKernels().floats(), SIZES, aggregation);
    double[] received = attention.of(recent, 0, 0, keys, 0).clone();
    recent.close();
    return received;
  }
}
