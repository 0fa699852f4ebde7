package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.memory.MemoryPool;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The estimated maximum of a sequence, reserved bytes included, is never exceeded. */
class MaxBytesTest {
  private static final CacheShape SHAPE = new CacheShape(2, 2, 32);
  private static final int STEP = 256;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2",
        "kivi:4,window=0",
        "kivi:2,sinks=16,window=300",
        "kivi:1,sinks=130",
        "patternkv:2,rope=static",
        "patternkv:2,as=paper",
        "kivi:2,sinks=16,prefill=exact",
        "mixkvq,high=2.8,mid=2",
        "pmkvq:2,budget=600KiB"
      })
  void aSequenceNeverTakesMore(String text) {
    CacheSpec spec = CacheSpec.parse(text);
    SplittableRandom random = new SplittableRandom(3);
    for (int tokens : new int[] {1, 100, 128, 129, 300, 700, 1500}) {
      MemoryPool pool = new MemoryPool(1L << 40);
      CacheContext context =
          CacheContext.unknown().withQueryHeads(4).withContextLimit(2000).withMemory(pool);
      int prompt = random.nextInt(tokens + 1);
      try (KvCache cache = spec.newCache(SHAPE, context)) {
        for (int at = 0; at < tokens; ) {
          cache.deferQuantization(cache.defersPrompts() && at < prompt);
          int step = at < prompt ? Math.min(STEP, prompt - at) : 1;
          step(cache, at, Math.max(1, cache.stepCapacity(step)), random);
          at = cache.length();
        }
        long most = spec.maxBytes(SHAPE, context, tokens, STEP);
        assertThat(pool.peakBytes()).as("%s, %d tokens", text, tokens).isLessThanOrEqualTo(most);
      }
      assertThat(pool.usedBytes()).isZero();
    }
  }

  private static void step(KvCache cache, int from, int count, SplittableRandom random) {
    float[] keys = new float[SHAPE.kvHeads() * SHAPE.keyDim()];
    float[] values = new float[SHAPE.kvHeads() * SHAPE.valueDim()];
    cache.reserve(from + count);
    for (int position = from; position < from + count; position++) {
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        for (int i = 0; i < keys.length; i++) {
          keys[i] = (float) random.nextGaussian();
          values[i] = (float) random.nextGaussian();
        }
        cache.append(layer, position, keys, 0, values, 0);
      }
    }
    cache.advance(count);
  }
}
