package dev.kvasir.codec.patternkv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what PatternKV guarantees in addition to the contract of every cache. */
@Tag("contract")
class PatternkvCacheTest {
  private static final CacheShape SHAPE = new CacheShape(2, 2, 16);
  private static final int VECTOR = SHAPE.kvHeads() * SHAPE.headDim();

  /** Bytes of one pattern for every head of keys and values. */
  private static final long PATTERN_BYTES = 2L * 2 * SHAPE.layers() * VECTOR;

  private final Kernels kernels = KernelChoice.ofThisProcess().kernels();

  @Test
  void bankIsLimitedToByteIndices() {
    long before = CountedArena.liveBytes();
    CacheSpec spec = CacheSpec.parse("patternkv:2,patterns=250,window=0");
    try (KvCache cache = spec.newCache(SHAPE)) {
      fill(cache, 12 * 128, 128, new Random(1));
      // A block has no more patterns than tokens; the next eleven share a slab of sixteen.
      assertThat(cache.bytes().tables()).isEqualTo((128 + 16) * PATTERN_BYTES);
      fill(cache, 200 * 128, 128, new Random(2));
      assertThat(cache.bytes().tables()).isEqualTo(255 * PATTERN_BYTES);
      assertThat(cache.bytes()).isEqualTo(spec.bytesFor(SHAPE, 212 * 128));
      assertThat(cache.bytes().total()).isEqualTo(CountedArena.liveBytes() - before);
    }
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  @Test
  void deferredPromptIsMinedAsAWhole() {
    try (KvCache cache = CacheSpec.parse("patternkv:2,patterns=200").newCache(SHAPE)) {
      cache.deferQuantization(true);
      fill(cache, 1000, 250, new Random(1));
      cache.deferQuantization(false);
      assertThat(cache.bytes().tables()).isEqualTo(200 * PATTERN_BYTES);
      fill(cache, 128, 1, new Random(2));
      assertThat(cache.bytes().tables()).isEqualTo((200 + 16) * PATTERN_BYTES);
    }
  }

  @Test
  void truncationDropsPatterns() {
    long before = CountedArena.liveBytes();
    CacheSpec spec = CacheSpec.parse("patternkv:2,window=0,sinks=3");
    try (KvCache cache = spec.newCache(SHAPE)) {
      fill(cache, 1000, 1, new Random(1));
      for (int length : new int[] {900, 515, 514, 300, 131, 130, 3, 0}) {
        cache.truncate(length);
        fill(cache, 300, 1, new Random(2));
        cache.truncate(length);
        assertThat(cache.bytes().tables()).isEqualTo(spec.bytesFor(SHAPE, length).tables());
        assertThat(cache.bytes().total()).isEqualTo(CountedArena.liveBytes() - before);
      }
    }
  }

  /** Both add patterns to the shared ones, and neither affects the pages of the other. */
  @Test
  void forksGrowTheirOwnBanks() {
    long before = CountedArena.liveBytes();
    KvCache parent = CacheSpec.parse("patternkv:4,window=0").newCache(SHAPE);
    fill(parent, 600, 100, new Random(1));
    float[] past = keys(parent, 512);
    KvCache fork = parent.fork();
    fill(parent, 500, 1, new Random(2));
    fill(fork, 500, 1, new Random(3));
    float[] ofParent = keys(parent, 1024);
    float[] ofFork = keys(fork, 1024);
    assertThat(ofParent).startsWith(past).isNotEqualTo(ofFork);
    assertThat(ofFork).startsWith(past);
    parent.close();
    assertThat(keys(fork, 1024)).isEqualTo(ofFork);
    assertThat(fork.bytes().total()).isEqualTo(CountedArena.liveBytes() - before);
    fork.close();
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  @Test
  void sameTokensGiveTheSameCache() {
    float[][] found = new float[2][];
    for (int i = 0; i < 2; i++) {
      try (KvCache cache = CacheSpec.parse("patternkv:2").newCache(SHAPE)) {
        fill(cache, 700, 64, new Random(5));
        found[i] = keys(cache, 700);
      }
    }
    assertThat(found[0]).isEqualTo(found[1]);
  }

  /** Patterns suit vectors near a few points that are far apart. */
  @ParameterizedTest
  @ValueSource(strings = {"k-patterns", "v-patterns"})
  void patternsMakeClusteredVectorsMorePrecise(String left) {
    double with = error("patternkv:2", left.startsWith("k"));
    double without = error("patternkv:2," + left + "=off", left.startsWith("k"));
    assertThat(with).isLessThan(without / 4);
  }

  /** One vector, rotated to every position, needs one rotating pattern, but many static ones. */
  @ParameterizedTest
  @EnumSource
  void rotatedKeyNeedsOnePattern(RopeLayout layout) {
    Rope rope = new Rope(layout, RopeFrequencies.unscaled(100, 12));
    double rotating = rotationError("patternkv:2,patterns=1,rope=rotate", rope);
    double still = rotationError("patternkv:2,patterns=1,rope=static", rope);
    assertThat(rotating).as("a half is this precise").isLessThan(2e-3);
    assertThat(still).isGreaterThan(0.1);
  }

  /** Returns the largest error of a channel. */
  private double rotationError(String spec, Rope rope) {
    float[] still = gaussian(new Random(6), VECTOR, 1);
    float[][] given = new float[600][];
    try (KvCache cache =
        CacheSpec.parse(spec)
            .newCache(SHAPE, CacheContext.unknown().withRotation(Optional.of(rope)))) {
      cache.reserve(given.length);
      for (int position = 0; position < given.length; position++) {
        given[position] = still.clone();
        rope.rotate(given[position], 0, SHAPE.headDim(), SHAPE.kvHeads(), position);
        for (int layer = 0; layer < SHAPE.layers(); layer++) {
          cache.append(layer, position, given[position], 0, still, 0);
        }
      }
      cache.advance(given.length);
      float[] found = keys(cache, given.length);
      double error = 0;
      for (int i = 0; i < found.length; i++) {
        float expected = given[i / SHAPE.headDim()][SHAPE.headDim() + i % SHAPE.headDim()];
        error = Math.max(error, Math.abs(found[i] - expected));
      }
      return error;
    }
  }

  private double error(String spec, boolean ofKeys) {
    Random random = new Random(4);
    float[][] centres = new float[5][];
    for (int i = 0; i < centres.length; i++) {
      centres[i] = gaussian(random, VECTOR, 3);
    }
    try (KvCache cache = CacheSpec.parse(spec + ",window=0").newCache(SHAPE)) {
      float[][] given = new float[512][];
      cache.reserve(given.length);
      for (int position = 0; position < given.length; position++) {
        given[position] = gaussian(random, VECTOR, 0.05);
        float[] centre = centres[random.nextInt(centres.length)];
        kernels.rows().add(given[position], 0, centre, 0, VECTOR);
        for (int layer = 0; layer < SHAPE.layers(); layer++) {
          cache.append(layer, position, given[position], 0, given[position], 0);
        }
      }
      cache.advance(given.length);
      double error = 0;
      float[] block = new float[128 * SHAPE.headDim()];
      for (int b = 0; b < 4; b++) {
        if (ofKeys) {
          cache.view(1, b).expandKeys(kernels, 1, 128, block);
        } else {
          cache.view(1, b).expandValues(kernels, 1, 128, block);
        }
        for (int i = 0; i < block.length; i++) {
          float[] vector = given[b * 128 + i / SHAPE.headDim()];
          error += Math.pow(block[i] - vector[SHAPE.headDim() + i % SHAPE.headDim()], 2);
        }
      }
      return Math.sqrt(error);
    }
  }

  private static void fill(KvCache cache, int tokens, int step, Random random) {
    for (int done = 0; done < tokens; done += step) {
      int first = cache.length();
      int count = Math.min(step, tokens - done);
      cache.reserve(first + count);
      for (int position = first; position < first + count; position++) {
        float[] keys = gaussian(random, VECTOR, 1);
        float[] values = gaussian(random, VECTOR, 1);
        for (int layer = 0; layer < SHAPE.layers(); layer++) {
          cache.append(layer, position, keys, 0, values, 0);
        }
      }
      cache.advance(count);
    }
  }

  private static float[] gaussian(Random random, int count, double spread) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) (spread * random.nextGaussian());
    }
    return x;
  }

  /** Returns the first tokens of the last head, block after block. */
  private float[] keys(KvCache cache, int tokens) {
    float[] all = new float[tokens * SHAPE.headDim()];
    float[] block = new float[128 * SHAPE.headDim()];
    for (int b = 0; cache.firstPosition(b) < tokens; b++) {
      int first = cache.firstPosition(b);
      int count = Math.min(cache.firstPosition(b + 1), tokens) - first;
      cache.view(1, b).expandKeys(kernels, 1, count, block);
      System.arraycopy(block, 0, all, first * SHAPE.headDim(), count * SHAPE.headDim());
    }
    return all;
  }
}
