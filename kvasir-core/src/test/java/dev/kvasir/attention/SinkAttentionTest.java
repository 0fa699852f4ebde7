package dev.kvasir.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.kernel.WorkerPool;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Attention-sink scores take their share of the softmax and contribute no value. */
class SinkAttentionTest {
  private static final int DIM = 16;
  private static final int KV_HEADS = 2;

  private final SplittableRandom random = new SplittableRandom(29);

  /** Few rows, large tiles, heads in groups, merged splits, and windows. */
  @ParameterizedTest
  @CsvSource({
    "1, 4, 1, 1",
    "1, 4, 129, 1",
    "3, 4, 300, 100",
    "1, 20, 300, 1",
    "2, 20, 300, 33",
    "1, 4, 2100, 1",
    "3, 4, 5000, 1",
    "1, 20, 5000, 3",
    "3, 4, 2500, 70"
  })
  void sinksTakeTheirShare(int threads, int queryHeads, int length, int count) {
    CacheShape cacheShape = new CacheShape(1, KV_HEADS, DIM, DIM);
    float[][] keys = new float[length][];
    float[][] values = new float[length][];
    try (WorkerPool workers = new WorkerPool(threads);
        KvCache cache = CacheSpec.parse("fp32").newCache(cacheShape)) {
      cache.reserve(length);
      for (int position = 0; position < length; position++) {
        keys[position] = gaussian(KV_HEADS * DIM, 1);
        values[position] = gaussian(KV_HEADS * DIM, 1);
        cache.append(0, position, keys[position], 0, values[position], 0);
      }
      cache.advance(length);
      float[] queries = gaussian(count * queryHeads * DIM, 1);
      float[] sinks = gaussian(queryHeads, 3);
      sinks[1] = 60; // all of it
      sinks[2] = -60; // none of it
      AttentionShape shape = new AttentionShape(queryHeads, KV_HEADS, DIM);
      Attention attention = new Attention(shape, new ScalarKernels(), workers);
      for (int window : new int[] {Integer.MAX_VALUE, 150}) {
        attention.begin();
        attention.add(cache, 0, count, length - count);
        float[] out = new float[queries.length];
        attention.attend(0, window, sinks, queries, out);
        for (int row = 0; row < count * queryHeads; row++) {
          int head = row % queryHeads;
          int kvHead = head / (queryHeads / KV_HEADS);
          int position = length - count + row / queryHeads;
          double[] expected =
              attended(queries, row * DIM, keys, values, kvHead, position, window, sinks[head]);
          for (int i = 0; i < DIM; i++) {
            assertThat(Math.abs(out[row * DIM + i] - expected[i]))
                .as("row %d", row)
                .isLessThan(2e-5);
          }
        }
      }
    }
  }

  private static double[] attended(
      float[] queries,
      int at,
      float[][] keys,
      float[][] values,
      int kvHead,
      int position,
      int window,
      double sink) {
    double[] output = new double[DIM];
    double sum = Math.exp(sink);
    for (int t = (int) Math.max(0, position - (long) window + 1); t <= position; t++) {
      double score = 0;
      for (int i = 0; i < DIM; i++) {
        score += queries[at + i] * keys[t][kvHead * DIM + i] / Math.sqrt(DIM);
      }
      sum += Math.exp(score);
      for (int i = 0; i < DIM; i++) {
        output[i] += Math.exp(score) * values[t][kvHead * DIM + i];
      }
    }
    for (int i = 0; i < DIM; i++) {
      output[i] /= sum;
    }
    return output;
  }

  private float[] gaussian(int count, double size) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) (size * random.nextGaussian());
    }
    return x;
  }
}
