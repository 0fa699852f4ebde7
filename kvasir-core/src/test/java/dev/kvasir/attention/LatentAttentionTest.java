package dev.kvasir.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Values that are part of keys give the same result as stored values. */
@Tag("contract")
class LatentAttentionTest {
  private static final long SEED = 47;
  private static final int ALL = Integer.MAX_VALUE;

  private final WorkerPool workers = new WorkerPool(2);
  private final Kernels kernels = KernelChoice.ofThisProcess().kernels();

  @AfterEach
  void close() {
    workers.close();
  }

  /** One token, few and many query rows, and a past of several KV splits. */
  @ParameterizedTest
  @CsvSource({
    "fp16, 576, 512, 16, 700",
    "fp16, 72, 64, 4, 2200",
    "bf16, 40, 20, 3, 400",
    "fp32, 72, 64, 9, 300",
    "fp16, 24, 24, 2, 300"
  })
  void aDenseCacheGivesTheSameBits(String spec, int keyDim, int valueDim, int heads, int length) {
    AttentionShape shape = new AttentionShape(heads, 1, keyDim, valueDim);
    try (KvCache latent = filled(spec, shape, ValueOrigin.IN_KEYS, length);
        KvCache stored = filled(spec, shape, ValueOrigin.STORED, length)) {
      for (int rows : new int[] {1, 2, 70}) {
        float[] queries = gaussian(new SplittableRandom(rows), rows * heads * keyDim);
        assertThat(attended(shape, latent, rows, queries, ALL))
            .isEqualTo(attended(shape, stored, rows, queries, ALL));
        assertThat(attended(shape, latent, rows, queries, 150))
            .isEqualTo(attended(shape, stored, rows, queries, 150));
      }
    }
  }

  /** Key and value are both read from the quantized key. */
  @ParameterizedTest
  @CsvSource({"kivi:2, 576, 512, 16", "kivi:4, 72, 64, 4", "'kivi:3,sinks=5,window=0', 40, 20, 9"})
  void aQuantizedKeyServesAsItsValue(String spec, int keyDim, int valueDim, int heads) {
    AttentionShape shape = new AttentionShape(heads, 1, keyDim, valueDim);
    int length = 500;
    try (KvCache latent = filled(spec, shape, ValueOrigin.IN_KEYS, length);
        KvCache expanded = expanded(latent, shape, length)) {
      for (int rows : new int[] {1, 70}) {
        float[] queries = gaussian(new SplittableRandom(rows), rows * heads * keyDim);
        float[] found = attended(shape, latent, rows, queries, ALL);
        float[] expected = attended(shape, expanded, rows, queries, ALL);
        double error = 0;
        double norm = 0;
        for (int i = 0; i < found.length; i++) {
          error += Math.pow(found[i] - expected[i], 2);
          norm += Math.pow(expected[i], 2);
        }
        assertThat(Math.sqrt(error / norm)).isLessThan(1e-3);
      }
    }
  }

  private static KvCache filled(String spec, AttentionShape shape, ValueOrigin values, int length) {
    SplittableRandom random = new SplittableRandom(SEED);
    CacheShape sizes = new CacheShape(1, 1, shape.keyDim(), shape.valueDim(), values);
    KvCache cache = CacheSpec.parse(spec).newCache(sizes);
    cache.reserve(length);
    for (int position = 0; position < length; position++) {
      float[] key = gaussian(random, shape.keyDim());
      cache.append(0, position, key, 0, key, 0);
    }
    cache.advance(length);
    return cache;
  }

  /** Returns a cache's contents in full precision, with separate values. */
  private KvCache expanded(KvCache quantized, AttentionShape shape, int length) {
    int keyDim = shape.keyDim();
    KvCache cache =
        CacheSpec.parse("fp32").newCache(new CacheShape(1, 1, keyDim, shape.valueDim()));
    cache.reserve(length);
    float[] keys = new float[KvCache.TOKENS_PER_PAGE * keyDim];
    for (int position = 0; position < length; position++) {
      int block = quantized.blockOf(position);
      int token = position - quantized.firstPosition(block);
      quantized.view(0, block).expandKeys(kernels, 0, token + 1, keys);
      float[] key = Arrays.copyOfRange(keys, token * keyDim, (token + 1) * keyDim);
      cache.append(0, position, key, 0, key, 0);
    }
    cache.advance(length);
    return cache;
  }

  private float[] attended(
      AttentionShape shape, KvCache cache, int rows, float[] queries, int window) {
    Attention attention = new Attention(shape, kernels, workers);
    attention.begin();
    attention.add(cache, 0, rows, cache.length() - rows);
    float[] out = new float[rows * shape.queryHeads() * shape.valueDim()];
    attention.attend(0, window, queries, out);
    return out;
  }

  private static float[] gaussian(SplittableRandom random, int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }
}
