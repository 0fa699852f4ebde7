package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.attention.Attention;
import dev.kvasir.attention.AttentionShape;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SyntheticProfileParts;
import dev.kvasir.codec.commvq.SyntheticCodebooks;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.WorkerPool;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares sliding-window layers with a cache that retains everything. */
@Tag("contract")
class LocalLayersTest {
  private static final AttentionShape HEADS = new AttentionShape(2, 1, 20);
  private static final CacheShape SHAPE =
      new CacheShape(3, HEADS.kvHeads(), HEADS.keyDim(), HEADS.valueDim());
  private static final int[] WINDOWS = {
    1, 2, 60, 127, 128, 129, 168, 256, 300, 500, 700, LayerWindows.UNBOUNDED
  };
  private static final int PAGE = KvCache.TOKENS_PER_PAGE;
  private static final int LONGEST = 1200;
  private static final int ACTS = 16;
  private static final int SINK_DISTANCE = 150;
  private static final int VECTOR = HEADS.kvHeads() * HEADS.keyDim();
  private static final int QUERY = HEADS.queryHeads() * HEADS.keyDim();

  private final WorkerPool workers = new WorkerPool(1);
  private final Attention attention =
      new Attention(HEADS, KernelChoice.ofThisProcess().kernels(), workers);
  private final ModelTables tables = new ModelTables();
  private final CacheContext context =
      CacheContext.unknown()
          .withQueryHeads(HEADS.queryHeads())
          .withRotation(
              Optional.of(new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, 16))))
          .withProfile(
              Optional.of(
                  SyntheticProfileParts.addTo(SyntheticCodebooks.profile(SHAPE, 1, 2), SHAPE)))
          .withTables(Optional.of(tables))
          .withContextLimit(LONGEST);

  @AfterEach
  void close() {
    tables.close();
    workers.close();
  }

  static Stream<String> specs() {
    return Stream.concat(
        ContractSpecs.fewSpecs().filter(spec -> !spec.contains("budget=")),
        Stream.of(
            "kivi:2,window=40",
            "kivi:1,sinks=130",
            "kivi:2,window=300,sinks=5",
            "pmkvq:2,budget=pool,window=0",
            "mead:2,first=coded,tables=off,late-sinks=2,window=60,sinks=5",
            "mixkvq,high=1.9,mid=1.7,salience=error,residual=256,sinks=130"));
  }

  /**
   * A text in three caches.
   *
   * @param local layers retain only their windows
   * @param whole the same specification, retaining everything
   * @param dense retains everything in full precision
   */
  private record Text(KvCache local, KvCache whole, KvCache dense, boolean[] isCut) {
    Text fork() {
      return new Text(local.fork(), whole.fork(), dense.fork(), isCut.clone());
    }

    List<KvCache> caches() {
      return List.of(local, whole, dense);
    }

    void close() {
      caches().forEach(KvCache::close);
    }
  }

  /** Random windows; texts grow, are truncated, fork, and are stored and restored. */
  @ParameterizedTest
  @MethodSource("specs")
  void evictedTokensAreNeverRead(String typed) {
    CacheSpec spec = CacheSpec.parse(typed);
    spec.newCache(SHAPE, context).close(); // creates the shared tables
    long bytesBefore = CountedArena.liveBytes();
    SplittableRandom random = new SplittableRandom(typed.hashCode());
    CacheShape shape = SHAPE.withWindows(randomWindows(random));
    List<Text> texts = new ArrayList<>();
    texts.add(
        new Text(
            spec.newCache(shape, context),
            spec.newCache(SHAPE, context),
            dense(spec),
            new boolean[1]));
    for (int act = 0; act < ACTS; act++) {
      Text text = texts.removeFirst();
      switch (random.nextInt(8)) {
        case 0 -> cut(text, random);
        case 1 -> fork(text, texts, random);
        case 2 -> text = restored(spec, shape, text);
        default -> grow(spec, shape, text, random);
      }
      texts.add(text);
    }
    texts.forEach(Text::close);
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
  }

  /** Returns a cache that is read like the given one but never quantizes. */
  private KvCache dense(CacheSpec spec) {
    CacheConfig kind = spec.configFor(SHAPE).cacheConfig(SHAPE, context);
    return kind.codec().map(PageCodec::hasIndependentLayers).orElse(false)
        ? new PagedCache(
            SHAPE, new CacheConfig(kind.precision(), kind.sinks(), 1 << 20, kind.codec()))
        : CacheSpec.DEFAULT.newCache(SHAPE, context);
  }

  /** Another specification has other block boundaries and evicts at other times. */
  @ParameterizedTest
  @ValueSource(strings = {"kivi:2,window=40,sinks=5", "fp16", "kivi:4,window=0,sinks=130"})
  void aCacheIsConvertedToAnotherSpec(String typed) {
    CacheSpec spec = CacheSpec.parse(typed);
    SplittableRandom random = new SplittableRandom(typed.hashCode());
    for (int trial = 0; trial < 12; trial++) {
      CacheShape shape = SHAPE.withWindows(randomWindows(random));
      MemoryPool pool = MemoryPool.unlimited();
      try (KvCache from = CacheSpec.parse("pmkvq:2,budget=pool,window=0").newCache(shape, context);
          KvCache to = spec.newCache(shape, context.withMemory(pool))) {
        append(from, 400 + random.nextInt(500), random);
        CacheConverter converter =
            new CacheConverter(from, to, shape, KernelChoice.ofThisProcess().kernels());
        assertThat(converter.canConvert()).isTrue();
        converter.fill(new int[from.length()], 256, trial % 2 == 0);
        assertThat(to.length()).isIn(0, from.length());
        assertThat(to.retainable(to.length())).isEqualTo(to.length());
        assertThat(to.length() > 0 || typed.contains("sinks=")).isTrue();
        for (int layer = 0; layer < shape.layers(); layer++) {
          assertThat(to.length() == 0 || to.firstRetained(layer) >= from.firstRetained(layer))
              .isTrue();
        }
        append(to, 400, random);
        assertThat(to.bytes()).isEqualTo(spec.bytesFor(shape, context, to.length()));
      }
      assertThat(pool.usedBytes()).isZero();
    }
  }

  private static void append(KvCache cache, int tokens, SplittableRandom random) {
    for (int i = 0; i < tokens; i++) {
      cache.reserve(cache.length() + 1);
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        cache.append(layer, cache.length(), vectors(random, VECTOR), 0, vectors(random, VECTOR), 0);
      }
      cache.advance(1);
    }
  }

  private static LayerWindows randomWindows(SplittableRandom random) {
    return new LayerWindows(
        IntStream.range(0, SHAPE.layers())
            .mapToObj(layer -> WINDOWS[random.nextInt(WINDOWS.length)])
            .toList());
  }

  private static void fork(Text text, List<Text> texts, SplittableRandom random) {
    texts.add(text.fork());
    if (texts.size() > 2) {
      texts.remove(random.nextInt(texts.size())).close();
    }
  }

  /** A cut by a few tokens is always possible, unless there was one before. */
  private static void cut(Text text, SplittableRandom random) {
    int length = text.local.length();
    int most = random.nextInt(4) == 0 ? length : Math.min(length, PAGE);
    int wanted = length - random.nextInt(most + 1);
    int retained = text.local.retainable(wanted);
    assertThat(retained).isIn(0, wanted);
    if (!text.isCut[0] && length - wanted <= PAGE) {
      assertThat(retained).isEqualTo(wanted);
    }
    text.caches().forEach(cache -> cache.truncate(retained));
    assertThat(text.local.length()).isEqualTo(retained);
    text.isCut[0] = retained > 0;
  }

  private Text restored(CacheSpec spec, CacheShape shape, Text text) {
    SnapshotBytes stored = SnapshotBytes.of(text.local.snapshot());
    KvCache read = spec.restore(shape, context, stored);
    assertThat(SnapshotBytes.of(read.snapshot())).isEqualTo(stored);
    assertThat(withoutTables(read.bytes())).isEqualTo(withoutTables(text.local.bytes()));
    text.local.close();
    return new Text(read, text.whole, text.dense, text.isCut);
  }

  private void grow(CacheSpec spec, CacheShape shape, Text text, SplittableRandom random) {
    int steps = 1 + random.nextInt(3);
    for (int step = 0; step < steps; step++) {
      int count = random.nextBoolean() ? 1 + random.nextInt(8) : 1 + random.nextInt(256);
      if (text.local.length() + count <= LONGEST) {
        step(spec, shape, text, count, random);
      }
    }
    text.caches().forEach(KvCache::quantizeWindow);
    for (int layer = 0; layer < shape.layers(); layer++) {
      if (text.local.evicts(layer)) {
        assertThat(text.local.length() - text.local.firstRetained(layer))
            .isLessThanOrEqualTo(shape.windows().of(layer) + 2 * PAGE);
      }
    }
    if (!text.isCut[0] && spec.sizes(shape, context) == PageCodec.SizeAccuracy.EXACT) {
      assertThat(withoutTables(text.local.bytes()))
          .isEqualTo(withoutTables(spec.bytesFor(shape, context, text.local.length())));
    }
  }

  /** Tables depend on how tokens were chunked, and on forks. */
  private static CacheBytes withoutTables(CacheBytes all) {
    return new CacheBytes(all.codes(), all.scales(), all.window(), all.sinks(), 0);
  }

  private void step(
      CacheSpec spec, CacheShape shape, Text text, int count, SplittableRandom random) {
    int first = text.local.length();
    text.caches().forEach(cache -> cache.reserve(first + count));
    float[][] queries = new float[shape.layers()][];
    for (int layer = 0; layer < shape.layers(); layer++) {
      queries[layer] = vectors(random, count * QUERY);
      float[] keys = vectors(random, count * VECTOR);
      makeSinks(keys, first, count);
      float[] values = vectors(random, count * VECTOR);
      for (KvCache cache : text.caches()) {
        for (int i = 0; i < count; i++) {
          if (layer == 0 && cache.observer().observesTokens()) {
            cache.observer().observe(first + i, (first + i) % 7);
          }
          cache.append(layer, first + i, keys, i * VECTOR, values, i * VECTOR);
          if (cache.observer().observesQueries()) {
            cache.observer().observe(layer, first + i, queries[layer], i * QUERY);
          }
        }
      }
    }
    for (int layer = 0; layer < shape.layers(); layer++) {
      int window = shape.windows().of(layer);
      KvCache like = isQuantized(spec, shape, layer) ? text.whole : text.dense;
      float[] found = attend(text.local, layer, window, first, count, queries[layer]);
      float[] expected = attend(text.whole, layer, window, first, count, queries[layer]);
      if (like == text.dense) {
        expected = attend(like, layer, window, first, count, queries[layer]);
      }
      assertThat(found)
          .as("%s of layer %d, windows %s, %d after %d", spec, layer, shape.windows(), count, first)
          .isEqualTo(expected);
    }
    text.caches().forEach(cache -> cache.commit(count));
  }

  /** Makes a few tokens receive many times the attention of others: queries are positive. */
  private static void makeSinks(float[] keys, int first, int count) {
    for (int i = 0; i < count; i++) {
      for (int j = 0; (first + i) % SINK_DISTANCE == 0 && j < VECTOR; j++) {
        keys[i * VECTOR + j] += 2;
      }
    }
  }

  /** Layers are quantized if their window reaches behind the dense blocks. */
  private boolean isQuantized(CacheSpec spec, CacheShape shape, int layer) {
    CacheConfig settings = spec.configFor(shape).cacheConfig(shape, context);
    if (settings.codec().isEmpty() || !settings.codec().get().hasIndependentLayers()) {
      return true;
    }
    int dense = settings.window() + settings.codec().get().blocksPerGroup() * PAGE;
    return shape.windows().of(layer) >= dense;
  }

  private float[] attend(
      KvCache cache, int layer, int window, int position, int count, float[] queries) {
    float[] out = new float[count * QUERY];
    attention.begin();
    attention.add(cache, 0, count, position);
    attention.attend(layer, window, queries, out);
    return out;
  }

  private static float[] vectors(SplittableRandom random, int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian() + i % 3;
    }
    return x;
  }

  /** Five of six layers see 1,024 tokens of 16,384, so their memory does not grow with the text. */
  @Test
  void aModelOfLocalLayersTakesAFifthAtSixteenThousandTokens() {
    CacheShape global = new CacheShape(34, 4, 256);
    CacheShape local =
        global.withWindows(
            LayerWindows.of(34, layer -> layer % 6 == 5 ? LayerWindows.UNBOUNDED : 1024, 131_072));
    assertThat(bytes("fp16", global)).isEqualTo(34L * 16_384 * 4096);
    assertThat(bytes("fp16", local)).isEqualTo(5L * 16_384 * 4096 + 29L * (1024 + 128) * 4096);
    assertThat(5 * bytes("kivi:2", local)).isLessThan(bytes("kivi:2", global) * 5 / 4);
    String budget = "pmkvq:2,budget=6bits";
    assertThat(bytes(budget, local)).isEqualTo(bytes(budget, global));
  }

  private static long bytes(String spec, CacheShape shape) {
    return CacheSpec.parse(spec).bytesFor(shape, 16_384).total();
  }
}
