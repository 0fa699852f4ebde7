package dev.kvasir.attention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ExampleSpecs;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.SyntheticProfileParts;
import dev.kvasir.codec.commvq.SyntheticCodebooks;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import java.util.Arrays;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Forks of a sequence that share a worker must get the same bits as if they ran alone. */
@Tag("contract")
class ForkedAttentionTest {
  /** One KV head, so that a worker goes directly from one sequence to the next. */
  private static final AttentionShape HEADS = new AttentionShape(4, 1, 32);

  private static final CacheShape SHAPE = new CacheShape(1, HEADS.kvHeads(), HEADS.headDim());
  private static final int QUERY = HEADS.queryHeads() * HEADS.headDim();
  private final Kernels kernels = KernelChoice.ofThisProcess().kernels();
  private final WorkerPool alone = new WorkerPool(1);
  private final SplittableRandom random = new SplittableRandom(29);
  private final ModelTables tables = new ModelTables();
  private final CacheContext context =
      CacheContext.unknown()
          .withQueryHeads(HEADS.queryHeads())
          .withRotation(
              Optional.of(new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, 24))))
          .withProfile(
              Optional.of(
                  SyntheticProfileParts.addTo(SyntheticCodebooks.profile(SHAPE, 1, 2), SHAPE)))
          .withTables(Optional.of(tables));

  @AfterEach
  void close() {
    alone.close();
    tables.close();
  }

  static Stream<String> specs() {
    return ExampleSpecs.withEveryMethod(
        "fp16",
        "kivi:2",
        "patternkv:2,patterns=4,window=0",
        "patternkv:2,patterns=4,window=0,rope=static",
        "patternkv:4,window=0,k-patterns=off",
        "patternkv:4,window=0,v-patterns=off",
        "mixkvq,high=1.9,mid=1.6",
        "mead:2,tables=off,first=coded,window=0",
        "pmkvq:2,budget=300KiB",
        "commvq:1",
        "commvq:1,scores=tables");
  }

  @ParameterizedTest
  @MethodSource("specs")
  void divergedForksShareAWorker(String spec) {
    try (KvCache parent = CacheSpec.parse(spec).newCache(SHAPE, context)) {
      fill(parent, 600);
      try (KvCache longer = parent.fork();
          KvCache shorter = parent.fork()) {
        fill(longer, 800);
        fill(shorter, 500);
        KvCache[] together = {longer, shorter, parent, shorter, longer};
        assertAsIfAlone(spec, together);
      }
    }
  }

  /** A truncated and regrown sequence has another past than a worker may remember. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "kivi:2",
        "patternkv:2,patterns=4,window=0",
        "patternkv:2,patterns=4,window=0,rope=static",
        "mixkvq,high=1.9,mid=1.6",
        "mead:2,tables=off,first=coded,window=0",
        "commvq:1"
      })
  void aTruncatedSequenceIsReadAnew(String spec) {
    try (KvCache cache = CacheSpec.parse(spec).newCache(SHAPE, context)) {
      Attention attention = new Attention(HEADS, kernels, alone);
      for (int retained : new int[] {0, 700, 300, 500}) {
        cache.truncate(retained);
        fill(cache, 1100 - retained);
        float[] query = gaussian(QUERY);
        float[] found = attend(attention, query, cache);
        float[] expected = attend(new Attention(HEADS, kernels, alone), query, cache);
        assertThat(found).as("%s, cut to %d", spec, retained).isEqualTo(expected);
      }
    }
  }

  private void assertAsIfAlone(String spec, KvCache[] caches) {
    float[] queries = gaussian(caches.length * QUERY);
    // Passes of one step use the same query where products may be cached.
    System.arraycopy(queries, 0, queries, QUERY, QUERY);
    float[] found = attend(new Attention(HEADS, kernels, alone), queries, caches);
    for (int i = 0; i < caches.length; i++) {
      float[] query = Arrays.copyOfRange(queries, i * QUERY, (i + 1) * QUERY);
      float[] expected = attend(new Attention(HEADS, kernels, alone), query, caches[i]);
      assertThat(Arrays.copyOfRange(found, i * QUERY, (i + 1) * QUERY))
          .as("%s, row %d", spec, i)
          .isEqualTo(expected);
    }
  }

  /** Attends with the last token of every sequence in one step. */
  private static float[] attend(Attention attention, float[] queries, KvCache... caches) {
    float[] out = new float[queries.length];
    attention.begin();
    for (int i = 0; i < caches.length; i++) {
      attention.add(caches[i], i, 1, caches[i].length() - 1);
    }
    attention.attend(0, Integer.MAX_VALUE, queries, out);
    return out;
  }

  private void fill(KvCache cache, int tokens) {
    int vector = HEADS.kvHeads() * HEADS.headDim();
    for (int i = 0; i < tokens; i++) {
      int position = cache.length();
      cache.reserve(position + 1);
      cache.append(0, position, gaussian(vector), 0, gaussian(vector), 0);
      if (cache.observer().observesQueries()) {
        cache.observer().observe(0, position, gaussian(QUERY), 0);
      }
      cache.advance(1);
    }
  }

  private float[] gaussian(int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }
}
