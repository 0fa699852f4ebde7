package dev.kvasir.codec.mead;

import static dev.kvasir.codec.mead.SyntheticBlocks.SHAPE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sequences of {@code mead} without a profile. */
class PromptFittedSequenceTest {
  private static final String SPEC = "mead:2,profile=none,sinks=5,window=40";
  private static final int QUERY_HEADS = 4;

  private static final Kernels KERNELS = new ScalarKernels();

  private final ModelTables tables = new ModelTables();
  private final CacheContext context =
      SyntheticBlocks.context(tables).withProfile(Optional.empty()).withQueryHeads(QUERY_HEADS);

  @AfterEach
  void close() {
    tables.close();
  }

  private KvCache open(String spec) {
    return CacheSpec.parse(spec).newCache(SHAPE, context);
  }

  /** Tokens are the same at the same positions, with every seed its own. */
  private static void append(KvCache cache, int count, int step, long seed) {
    int end = cache.length() + count;
    while (cache.length() < end) {
      int from = cache.length();
      int to = Math.min(end, from + step);
      cache.reserve(to);
      for (int position = from; position < to; position++) {
        for (int layer = 0; layer < SHAPE.layers(); layer++) {
          Random random = new Random(seed + 1000L * position + layer);
          float[] queries = gaussian(random, QUERY_HEADS * SHAPE.keyDim());
          float[] keys = gaussian(random, SHAPE.kvHeads() * SHAPE.keyDim());
          float[] values = gaussian(random, SHAPE.kvHeads() * SHAPE.valueDim());
          if (cache.observer().observesQueries()) {
            cache.observer().observe(layer, position, queries, 0);
          }
          cache.append(layer, position, keys, 0, values, 0);
        }
      }
      cache.advance(to - from);
    }
  }

  private static float[] gaussian(Random random, int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian() * (1 + i % 7);
    }
    return x;
  }

  private static void assertSame(KvCache cache, KvCache other) {
    assertThat(cache.length()).isEqualTo(other.length());
    for (int block = 0; block <= cache.blockOf(cache.length() - 1); block++) {
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        for (int head = 0; head < SHAPE.kvHeads(); head++) {
          assertThat(vectors(cache, layer, block, head))
              .isDeepEqualTo(vectors(other, layer, block, head));
        }
      }
    }
  }

  /** Returns keys and values of a block. */
  private static float[][] vectors(KvCache cache, int layer, int block, int head) {
    int end = Math.min(cache.length(), cache.firstPosition(block + 1));
    int tokens = end - cache.firstPosition(block);
    float[][] vectors = {new float[tokens * SHAPE.keyDim()], new float[tokens * SHAPE.valueDim()]};
    cache.view(layer, block).expandKeys(KERNELS, head, tokens, vectors[0]);
    cache.view(layer, block).expandValues(KERNELS, head, tokens, vectors[1]);
    return vectors;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 256, 600})
  void stepsOfAnySizeLeaveTheSameCache(int step) {
    try (KvCache inSteps = open(SPEC);
        KvCache whole = open(SPEC)) {
      append(inSteps, 600, step, 1);
      append(whole, 600, 100, 1);
      assertSame(inSteps, whole);
    }
  }

  /** 160 tokens are too few for a page; 600 have several. */
  @ParameterizedTest
  @CsvSource({"100, 60", "3, 600"})
  void whatWasCutLeavesNoTraceInTheFit(int kept, int cut) {
    try (KvCache shortened = open(SPEC);
        KvCache fresh = open(SPEC)) {
      append(shortened, kept, 100, 1);
      append(shortened, cut, 100, 2);
      shortened.truncate(kept);
      append(shortened, 600 - kept, 100, 1);
      append(fresh, 600, 100, 1);
      assertSame(shortened, fresh);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 300})
  void forksAndRestoredSequencesHaveTheSameFit(int length) {
    try (KvCache whole = open(SPEC)) {
      append(whole, length, 100, 1);
      try (KvCache fork = whole.fork();
          KvCache restored = CacheSpec.parse(SPEC).restore(SHAPE, context, whole.snapshot())) {
        assertThat(restored.bytes()).isEqualTo(whole.bytes());
        for (KvCache cache : new KvCache[] {whole, fork, restored}) {
          append(cache, 300, 100, 1);
        }
        assertSame(fork, whole);
        assertSame(restored, whole);
      }
    }
  }

  /** A page has its bytes before it is known what the sequence is like. */
  @Test
  void sequencesHaveTheSameSizeWhateverTheyContain() {
    try (KvCache some = open(SPEC);
        KvCache others = open(SPEC)) {
      append(some, 500, 100, 1);
      append(others, 500, 100, 2);
      assertThat(some.bytes()).isEqualTo(others.bytes());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "'mead:2,profile=none,tables=tokens', 'tables=tokens needs a profile'",
    "'mead:2,profile=none,classes=attention', 'classes=attention needs a profile'",
    "'mead:2,profile=none,budget=1MiB', 'budget=1MiB needs a profile'",
    "'mead:2,profile=mine', 'profile'"
  })
  void whatAProfileProvidesIsRefused(String spec, String message) {
    assertThatThrownBy(() -> CacheSpec.parse(spec).config())
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining(message);
  }

  @Test
  void aModelWithoutQueryHeadsIsRefused() {
    CacheContext unknown = context.withQueryHeads(0);
    assertThatThrownBy(() -> CacheSpec.parse(SPEC).newCache(SHAPE, unknown))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "the cache '%s' must know how many query heads there are; it needs a model"
                .formatted(SPEC));
  }
}
