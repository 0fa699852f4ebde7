package dev.kvasir.codec.mixkvq;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class QueryMagnitudesTest {
  private static final int KV_HEADS = 2;
  private static final int HEAD_DIM = 12;
  private static final int SHARED = 3;
  private static final int QUERY = KV_HEADS * SHARED * HEAD_DIM;

  private final long before = CountedArena.liveBytes();

  @AfterEach
  void everythingIsFreed() {
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  @Test
  void magnitudeIsTheMeanOverTokensAndHeads() {
    QueryMagnitudes magnitudes = newMagnitudes(QuerySpan.WINDOW);
    float[] queries = queries(2);
    magnitudes.add(0, queries, 0, SHARED);
    magnitudes.add(1, queries, QUERY, SHARED);
    double expected = 0;
    for (int token = 0; token < 2; token++) {
      for (int head = 0; head < SHARED; head++) {
        expected += Math.abs(queries[token * QUERY + (SHARED + head) * HEAD_DIM + 5]) / 2 / SHARED;
      }
    }
    assertThat(weights(magnitudes)[HEAD_DIM + 5]).isCloseTo((float) expected, within(1e-5f));
    magnitudes.close();
  }

  /** Threads add the tokens of a step in any order, and generated text must not depend on it. */
  @Test
  void everyOrderGivesTheSameBits() {
    float[] queries = queries(500);
    QueryMagnitudes inOrder = newMagnitudes(QuerySpan.WINDOW);
    IntStream.range(0, 500).forEach(i -> inOrder.add(i, queries, i * QUERY, SHARED));
    QueryMagnitudes shuffled = newMagnitudes(QuerySpan.WINDOW);
    IntStream.range(0, 500)
        .parallel()
        .forEach(i -> shuffled.add(499 - i, queries, (499 - i) * QUERY, SHARED));
    assertThat(weights(shuffled)).isEqualTo(weights(inOrder));
    inOrder.close();
    shuffled.close();
  }

  @Test
  void windowStartsWithTheFirstQueryAfterQuantization() {
    float[] queries = queries(2);
    QueryMagnitudes window = newMagnitudes(QuerySpan.WINDOW);
    QueryMagnitudes sequence = newMagnitudes(QuerySpan.SEQUENCE);
    QueryMagnitudes second = newMagnitudes(QuerySpan.WINDOW);
    second.add(1, queries, QUERY, SHARED);
    for (QueryMagnitudes magnitudes : new QueryMagnitudes[] {window, sequence}) {
      magnitudes.add(0, queries, 0, SHARED);
      float[] first = weights(magnitudes);
      magnitudes.markUsed();
      assertThat(weights(magnitudes)).as("until then the last window counts").isEqualTo(first);
      magnitudes.add(1, queries, QUERY, SHARED);
    }
    assertThat(weights(window)).isEqualTo(weights(second));
    assertThat(weights(sequence)).isNotEqualTo(weights(second));
    Arrays.asList(window, sequence, second).forEach(QueryMagnitudes::close);
  }

  @Test
  void forksShareSumsUntilOneAdds() {
    float[] queries = queries(2);
    QueryMagnitudes parent = newMagnitudes(QuerySpan.WINDOW);
    parent.add(0, queries, 0, SHARED);
    float[] past = weights(parent);
    long held = CountedArena.liveBytes();
    QueryMagnitudes fork = parent.fork();
    assertThat(CountedArena.liveBytes()).isEqualTo(held);
    fork.add(1, queries, QUERY, SHARED);
    assertThat(weights(parent)).isEqualTo(past);
    assertThat(weights(fork)).isNotEqualTo(past);
    parent.close();
    fork.close();
  }

  @Test
  void sumsAreClearedWithTheirFirstToken() {
    float[] queries = queries(1);
    QueryMagnitudes magnitudes = newMagnitudes(QuerySpan.WINDOW);
    magnitudes.add(7, queries, 0, SHARED);
    magnitudes.truncate(8);
    assertThat(weights(magnitudes)[0]).isPositive();
    magnitudes.truncate(7);
    assertThat(weights(magnitudes)).containsOnly(0);
    magnitudes.close();
  }

  private static QueryMagnitudes newMagnitudes(QuerySpan span) {
    return new QueryMagnitudes(KV_HEADS, HEAD_DIM, span, MemoryPool.unlimited());
  }

  private static float[] weights(QueryMagnitudes magnitudes) {
    float[] ones = new float[KV_HEADS * HEAD_DIM];
    Arrays.fill(ones, 1);
    magnitudes.multiplyByMean(ones);
    return ones;
  }

  private static float[] queries(int tokens) {
    Random random = new Random(3);
    float[] queries = new float[tokens * QUERY];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = (float) (random.nextGaussian() * Math.pow(10, i % 5 - 2));
    }
    return queries;
  }
}
