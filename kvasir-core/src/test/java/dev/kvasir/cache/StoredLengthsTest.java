package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.memory.CountedArena;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A sequence that is stored and restored at any length continues bit-identically. */
class StoredLengthsTest {
  private static final CacheShape SHAPE = new CacheShape(2, 1, 16);
  private static final int TRIALS = 10;
  private static final int LONGEST = 500;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2,window=0,sinks=0",
        "kivi:2,k=4,v=1,window=40,sinks=16",
        "kivi:4,cold=2@200,window=0",
        "patternkv:2,rope=static,window=0,sinks=5",
        "mixkvq,high=1.9,mid=1.7,salience=error,residual=256,window=0",
        "pmkvq:2,budget=64KiB,window=0"
      })
  void anyTwoLengthsMakeOneSequence(String typed) {
    CacheSpec spec = CacheSpec.parse(typed);
    Random random = new Random(typed.hashCode());
    long before = CountedArena.liveBytes();
    for (int i = 0; i < TRIALS; i++) {
      int first = random.nextInt(LONGEST);
      int second = random.nextInt(LONGEST);
      int step = 1 + random.nextInt(130);
      assertSameBits(spec, first, second, step);
    }
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  private static void assertSameBits(CacheSpec spec, int first, int second, int step) {
    try (KvCache cache = spec.newCache(SHAPE)) {
      append(cache, first, step);
      SnapshotBytes stored = SnapshotBytes.of(cache.snapshot());
      try (MappedSnapshot mapped = new MappedSnapshot(stored);
          KvCache read = spec.restore(SHAPE, CacheContext.unknown(), mapped)) {
        // With cold blocks a stored sequence differs from the original, so the restored one is
        // compared.
        KvCache whole =
            spec.configFor(SHAPE)
                    .cacheConfig(SHAPE, CacheContext.unknown())
                    .coldBlocks()
                    .isPresent()
                ? spec.restore(SHAPE, CacheContext.unknown(), stored)
                : cache.fork();
        try (whole) {
          append(whole, second, step);
          append(read, second, step);
          assertThat(SnapshotBytes.of(read.snapshot()))
              .as("%s: %d tokens, then %d", spec.text(), first, second)
              .isEqualTo(SnapshotBytes.of(whole.snapshot()));
          assertThat(read.bytes()).isEqualTo(whole.bytes());
        }
      }
    }
  }

  /** Appends vectors that depend on their positions. */
  private static void append(KvCache cache, int tokens, int step) {
    int end = cache.length() + tokens;
    while (cache.length() < end) {
      int begin = cache.length();
      int count = cache.stepCapacity(Math.min(step, end - begin));
      cache.reserve(begin + count);
      for (int position = begin; position < begin + count; position++) {
        SplittableRandom random = new SplittableRandom(position);
        for (int layer = 0; layer < SHAPE.layers(); layer++) {
          float[] keys = vector(random);
          cache.append(layer, position, keys, 0, vector(random), 0);
        }
      }
      cache.advance(count);
    }
  }

  private static float[] vector(SplittableRandom random) {
    float[] vector = new float[SHAPE.kvHeads() * SHAPE.headDim()];
    for (int i = 0; i < vector.length; i++) {
      vector[i] = (float) random.nextDouble() + i % 3;
    }
    return vector;
  }
}
