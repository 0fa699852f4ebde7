package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.HeadShape;
import dev.kvasir.codec.LayerRotations;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Layers with heads of different sizes: each part of a cache is that of a model of its own. */
class MixedHeadsTest {
  private static final Kernels KERNELS = new ScalarKernels();
  private static final int TOKENS = 420;
  private static final int BLOCK = KvCache.TOKENS_PER_PAGE;
  private static final HeadShape NARROW = new HeadShape(2, 16, 16);
  private static final HeadShape WIDE = new HeadShape(1, 32, 24);
  private static final int ALL = LayerWindows.UNBOUNDED;

  private static final CacheShape SHAPE =
      new CacheShape(4, 1, 1, 1)
          .withWindows(new LayerWindows(List.of(ALL, 100, ALL, ALL)))
          .withHeads(List.of(NARROW, NARROW, WIDE, NARROW));

  private final MemoryPool pool = MemoryPool.unlimited();
  private final CacheContext context =
      CacheContext.unknown()
          .withMemory(pool)
          .withRotations(
              Optional.of(
                  new LayerRotations(
                      List.of(rope(16, 50), rope(16, 9), rope(32, 50), rope(16, 9)))));

  private static Rope rope(int channels, double base) {
    return new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(base, channels));
  }

  /** Appends the same tokens to the given layers of the model, which are those of the cache. */
  private static void fill(KvCache cache, CacheShape shape, int[] layers) {
    cache.reserve(TOKENS);
    for (int i = 0; i < layers.length; i++) {
      HeadShape heads = shape.headsOf(i);
      Random random = new Random(layers[i]);
      float[] keys = new float[heads.kvHeads() * heads.keyDim()];
      float[] values = new float[heads.kvHeads() * heads.valueDim()];
      for (int position = 0; position < TOKENS; position++) {
        randomize(random, keys);
        randomize(random, values);
        cache.append(i, position, keys, 0, values, 0);
      }
    }
    cache.advance(TOKENS);
  }

  private static void randomize(Random random, float[] x) {
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
  }

  private static void assertSame(KvCache cache, int layer, KvCache other, int otherLayer) {
    HeadShape heads = SHAPE.headsOf(layer);
    assertThat(cache.firstRetained(layer)).isEqualTo(other.firstRetained(otherLayer));
    int first = cache.blockOf(cache.firstRetained(layer));
    for (int block = first; cache.firstPosition(block) < cache.length(); block++) {
      int end = Math.min(cache.firstPosition(block + 1), cache.length());
      int tokens = end - cache.firstPosition(block);
      for (int head = 0; head < heads.kvHeads(); head++) {
        float[] found = new float[BLOCK * heads.keyDim()];
        float[] expected = found.clone();
        cache.view(layer, block).expandKeys(KERNELS, head, tokens, found);
        other.view(otherLayer, block).expandKeys(KERNELS, head, tokens, expected);
        assertThat(found).isEqualTo(expected);
        cache.view(layer, block).expandValues(KERNELS, head, tokens, found);
        other.view(otherLayer, block).expandValues(KERNELS, head, tokens, expected);
        assertThat(found).isEqualTo(expected);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2,window=0,sinks=4",
        "kivi:4,window=0,cold=2@128",
        "patternkv:2,window=0",
        "pmkvq:2,window=0,budget=pool"
      })
  void aPartIsTheCacheOfAModelOfItsOwn(String text) {
    CacheSpec spec = CacheSpec.parse(text);
    try (KvCache cache = spec.newCache(SHAPE, context)) {
      fill(cache, SHAPE, new int[] {0, 1, 2, 3});
      long bytes = 0;
      long estimated = 0;
      for (int[] layers : SHAPE.layersByHeads()) {
        CacheShape part = SHAPE.ofLayers(layers);
        try (KvCache alone = spec.newCache(part, context.ofLayers(layers))) {
          fill(alone, part, layers);
          for (int i = 0; i < layers.length; i++) {
            assertSame(cache, layers[i], alone, i);
          }
          bytes += alone.bytes().total();
          estimated += spec.bytesFor(part, context.ofLayers(layers), TOKENS).total();
        }
      }
      assertThat(cache.bytes().total()).isEqualTo(bytes);
      assertThat(spec.bytesFor(SHAPE, context, TOKENS).total()).isEqualTo(estimated);
      assertRestores(spec, cache);
      assertForks(cache);
    }
    assertThat(pool.usedBytes()).isZero();
  }

  private void assertRestores(CacheSpec spec, KvCache cache) {
    // Cold blocks have fewer bits once they are stored, so a second copy is the same as the first.
    try (KvCache restored = spec.restore(SHAPE, context, cache.snapshot());
        KvCache again = spec.restore(SHAPE, context, restored.snapshot())) {
      KvCache stored = spec.text().contains("cold") ? restored : cache;
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        assertSame(stored, layer, again, layer);
      }
    }
  }

  private static void assertForks(KvCache cache) {
    try (KvCache fork = cache.fork();
        KvCache cut = cache.fork()) {
      cut.truncate(cache.retainable(TOKENS - 40));
      assertThat(cut.length()).isEqualTo(TOKENS - 40);
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        assertSame(cache, layer, fork, layer);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"budget=13bits", "budget=165KiB", "budget=13bits,shrink=layer"})
  void aBudgetIsKeptByRequantizingPagesOfEveryLayer(String budget) {
    CacheSpec spec = CacheSpec.parse("pmkvq:2,window=0," + budget);
    CacheContext limited = context.withContextLimit(TOKENS);
    long limit = budget.contains("KiB") ? 165 << 10 : 13 * SHAPE.valuesPerToken() * TOKENS / 8;
    try (KvCache cache = spec.newCache(SHAPE, limited)) {
      fillInSteps(cache, limit);
      assertThat(cache.bytes().total()).isEqualTo(spec.bytesFor(SHAPE, limited, TOKENS).total());
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        assertThat(relativeError(cache, layer)).isBetween(1e-4, 0.5);
      }
      try (KvCache restored = spec.restore(SHAPE, limited, cache.snapshot());
          KvCache fork = restored.fork()) {
        for (int layer = 0; layer < SHAPE.layers(); layer++) {
          assertSame(cache, layer, restored, layer);
          assertSame(cache, layer, fork, layer);
        }
      }
    }
    assertThat(pool.usedBytes()).isZero();
  }

  /** Appends the tokens of {@link #fill}, one a step. */
  private static void fillInSteps(KvCache cache, long limit) {
    Random[] randoms = new Random[SHAPE.layers()];
    Arrays.setAll(randoms, Random::new);
    for (int position = 0; position < TOKENS; position++) {
      cache.reserve(position + 1);
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        HeadShape heads = SHAPE.headsOf(layer);
        float[] keys = new float[heads.kvHeads() * heads.keyDim()];
        float[] values = new float[heads.kvHeads() * heads.valueDim()];
        randomize(randoms[layer], keys);
        randomize(randoms[layer], values);
        cache.append(layer, position, keys, 0, values, 0);
      }
      cache.advance(1);
      assertThat(cache.bytes().total()).isLessThanOrEqualTo(limit);
    }
  }

  /** Returns the error of the keys of a layer's first head, relative to their size. */
  private static double relativeError(KvCache cache, int layer) {
    HeadShape heads = SHAPE.headsOf(layer);
    Random random = new Random(layer);
    float[] keys = new float[heads.kvHeads() * heads.keyDim()];
    float[] values = new float[heads.kvHeads() * heads.valueDim()];
    float[] found = new float[BLOCK * heads.keyDim()];
    double error = 0;
    double size = 0;
    for (int position = 0; position < TOKENS; position++) {
      randomize(random, keys);
      randomize(random, values);
      int block = cache.blockOf(position);
      int first = cache.firstPosition(block);
      int tokens = Math.min(cache.firstPosition(block + 1), TOKENS) - first;
      cache.view(layer, block).expandKeys(KERNELS, 0, tokens, found);
      for (int i = 0; i < heads.keyDim(); i++) {
        float difference = found[(position - first) * heads.keyDim() + i] - keys[i];
        error += difference * difference;
        size += keys[i] * keys[i];
      }
    }
    return Math.sqrt(error / size);
  }

  @Test
  void aBudgetTooSmallForAnyTokenIsRefused() {
    CacheSpec spec = CacheSpec.parse("pmkvq:2,budget=4KiB");
    assertThatThrownBy(() -> spec.newCache(SHAPE, context))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageStartingWith("the cache 'pmkvq:2,budget=4KiB' has 4096 bytes; its first tokens");
  }

  @Test
  void aConversionCopiesHeadsOfEverySize() {
    try (KvCache from = CacheSpec.parse("fp32").newCache(SHAPE, context);
        KvCache to = CacheSpec.parse("fp32").newCache(SHAPE, context)) {
      fill(from, SHAPE, new int[] {0, 1, 2, 3});
      new CacheConverter(from, to, SHAPE, KERNELS).fill(new int[TOKENS], 256, false);
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        assertSame(from, layer, to, layer);
      }
    }
  }

  @Test
  void whatNeedsLayersThatAreAlikeSaysSo() {
    assertThatThrownBy(SHAPE::keyDim)
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("layers have heads of different sizes; this is made for layers that are alike");
  }
}
