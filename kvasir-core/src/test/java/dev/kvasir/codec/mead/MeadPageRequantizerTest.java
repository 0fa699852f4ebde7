package dev.kvasir.codec.mead;

import static dev.kvasir.codec.mead.SyntheticBlocks.LAYER;
import static dev.kvasir.codec.mead.SyntheticBlocks.SHAPE;
import static dev.kvasir.codec.mead.SyntheticBlocks.expandedKeys;
import static dev.kvasir.codec.mead.SyntheticBlocks.expandedValues;
import static dev.kvasir.codec.mead.SyntheticBlocks.isExact;
import static dev.kvasir.codec.mead.SyntheticBlocks.keys;
import static dev.kvasir.codec.mead.SyntheticBlocks.observeAttention;
import static dev.kvasir.codec.mead.SyntheticBlocks.values;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests requantization of pages to lower rates, from their own codes. */
class MeadPageRequantizerTest {
  private static final int TOKENS = Page.TOKENS;
  private static final int SINK = 9;
  private static final String POOLED = "mead:3,budget=pool,window=0,sinks=0,first=coded";

  private final ModelTables tables = new ModelTables();
  private final CacheContext context = SyntheticBlocks.context(tables);
  private long bytesBefore;

  @BeforeEach
  void count() {
    bytesBefore = CountedArena.liveBytes();
  }

  @AfterEach
  void everyByteIsFreed() {
    assertThat(CountedArena.liveBytes() - tables.bytes()).isEqualTo(bytesBefore);
    tables.close();
  }

  private RequantizingCodec method(String spec) {
    return (RequantizingCodec)
        CacheSpec.parse(spec).configFor(SHAPE).cacheConfig(SHAPE, context).codec().orElseThrow();
  }

  /** Quantizes all layers of the first block and returns the page of one. */
  private static Page quantizeBlock(RequantizingSequence sequence) {
    try (Page other = sequence.quantize(0, 0, keys(0), values(0))) {
      assertThat(other.codeBytes()).isNotNegative();
    }
    return sequence.quantize(LAYER, 0, keys(0), values(0));
  }

  /** Returns the squared error of a page over all heads. */
  private static double error(Page page) {
    double sum = 0;
    for (int head = 0; head < SHAPE.kvHeads(); head++) {
      sum += error(expandedKeys(page, head), keys(0), head * TOKENS * SHAPE.keyDim());
      sum += error(expandedValues(page, head), values(0), head * TOKENS * SHAPE.valueDim());
    }
    return sum;
  }

  private static double error(float[] found, float[] given, int at) {
    double sum = 0;
    for (int i = 0; i < found.length; i++) {
      sum += Math.pow(found[i] - given[at + i], 2);
    }
    return sum;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mead:3,budget=pool",
        "mead:3,budget=pool,tables=off,first=coded",
        "mead:4,budget=pool,tables=centroids,first=coded"
      })
  void everyLevelTakesTheEstimatedBytesAndLosesMore(String spec) {
    RequantizingCodec method = method(spec);
    try (RequantizingSequence sequence = method.newSequence()) {
      Page page = quantizeBlock(sequence);
      double error = error(page);
      assertThat(method.floorLevel(LAYER)).isBetween(3, 6);
      for (int level = 1; level <= method.floorLevel(LAYER); level++) {
        Page lower = sequence.requantize(LAYER, page, level);
        page.close();
        page = lower;
        assertThat(sequence.level(page)).isEqualTo(level);
        assertThat(page.codeBytes()).isEqualTo(method.codeBytes(LAYER, level));
        assertThat(page.codeBytes() + page.scaleBytes()).isEqualTo(method.pageBytes(LAYER, level));
        assertThat(method.pageBytes(LAYER, level)).isLessThan(method.pageBytes(LAYER, level - 1));
        assertThat(error(page)).isGreaterThan(error);
        error = error(page);
        for (int head = 0; head < SHAPE.kvHeads(); head++) {
          SyntheticBlocks.assertAttention(page, head);
        }
      }
      assertThat(error).isLessThan(energy());
      page.close();
    }
  }

  /** Returns the squared error of an all-zero page. */
  private static double energy() {
    float[] keys = keys(0);
    float[] values = values(0);
    return error(new float[keys.length], keys, 0) + error(new float[values.length], values, 0);
  }

  /** A model shows 16 to 24% more divergence; these vectors are synthetic. */
  @Test
  void requantizationIsNotMuchWorseThanDirectQuantization() {
    RequantizingCodec method = method("mead:2.5,budget=pool,first=coded,late-sinks=0");
    try (RequantizingSequence sequence = method.newSequence();
        Page page = quantizeBlock(sequence);
        Page twice = sequence.requantize(LAYER, page, 2)) {
      sequence.setLevel(LAYER, 2);
      try (Page once = sequence.quantize(LAYER, 0, keys(0), values(0))) {
        assertThat(once.codeBytes()).isEqualTo(twice.codeBytes());
        assertThat(error(twice)).isBetween(error(once), 1.5 * error(once));
      }
    }
  }

  @Test
  void exactTokensStayExactAtEveryLevel() {
    RequantizingCodec method = method("mead:3,budget=pool,first=coded");
    try (RequantizingSequence sequence = method.newSequence()) {
      observeAttention(sequence, 0, SINK);
      Page wide = quantizeBlock(sequence);
      Page lower = sequence.requantize(LAYER, wide, 2);
      wide.close();
      try (lower) {
        assertThat(isExact(lower, 0, SINK)).isTrue();
        assertThat(isExact(lower, 0, SINK + 1)).isFalse();
        SyntheticBlocks.assertAttention(lower, 0);
      }
    }
  }

  /**
   * Codes of a low rate have no bits for most components, so only the mean error preserves their
   * mean.
   */
  @Test
  void theMeanErrorIsPreserved() {
    assertThat(meanError("mead:4,budget=pool,tables=off,first=coded"))
        .isLessThan(meanError("mead:4,budget=pool,tables=off,first=coded,means=off") / 2);
  }

  /** Returns how far the mean of a page's values moves when it is requantized to its floor. */
  private double meanError(String spec) {
    RequantizingCodec method = method(spec);
    float[] shifted = values(0);
    for (int i = 0; i < shifted.length; i++) {
      shifted[i] = 0.3f * shifted[i] + 0.8f;
    }
    try (RequantizingSequence sequence = method.newSequence();
        Page wide = sequence.quantize(LAYER, 0, keys(0), shifted);
        Page lower = sequence.requantize(LAYER, wide, method.floorLevel(LAYER))) {
      double sum = 0;
      for (int channel = 0; channel < SHAPE.valueDim(); channel++) {
        sum +=
            Math.abs(
                mean(expandedValues(wide, 0), channel) - mean(expandedValues(lower, 0), channel));
      }
      return sum;
    }
  }

  private static double mean(float[] values, int channel) {
    double sum = 0;
    for (int token = 0; token < TOKENS; token++) {
      sum += values[token * SHAPE.valueDim() + channel];
    }
    return sum / TOKENS;
  }

  /** Token ids belong to the first page and survive its requantization. */
  @Test
  void aRequantizedPageLeaksNothing() {
    RequantizingCodec method = method("mead:3,budget=pool,first=coded");
    try (RequantizingSequence sequence = method.newSequence()) {
      long tableBytes = sequence.tableBytes();
      Page wide = sequence.quantize(0, 0, keys(0), values(0));
      Page lower = sequence.requantize(LAYER, wide, 2);
      wide.close();
      try (lower) {
        long held = CountedArena.liveBytes() - bytesBefore - tables.bytes();
        assertThat(held).isEqualTo(tableBytes + lower.codeBytes() + lower.scaleBytes());
      }
    }
  }

  @Test
  void pagesAndStatesOfAnUnknownRateAreRejected() {
    RequantizingCodec many = method("mead:2.5,budget=pool,first=coded");
    RequantizingCodec few = method("mead:2.5,budget=pool,floor=1.5,first=coded");
    try (RequantizingSequence sequence = many.newSequence();
        RequantizingSequence other = few.newSequence();
        Page page = sequence.quantize(0, 0, keys(0), values(0));
        Page lower = sequence.requantize(LAYER, page, 3)) {
      assertThatThrownBy(() -> other.deserialize(0, lower.serialize()))
          .hasMessage("a stored page has 1.25 bits; this cache has [2.5, 2.0, 1.5]");
      sequence.setLevel(LAYER, 4);
      assertThatThrownBy(() -> few.resumeSequence(sequence.serializeState()))
          .hasMessage("a stored state has 1.0 bits; this cache has [2.5, 2.0, 1.5]");
    }
  }

  @Test
  void theOldestPagesAreRequantizedUnderABudget() {
    String spec = "mead:4,budget=110KiB,window=0,sinks=0";
    try (KvCache cache = CacheSpec.parse(spec).newCache(SHAPE, context)) {
      grow(cache, 1500);
      assertThat(cache.bytes().total()).isLessThanOrEqualTo(110 << 10);
      assertThat(codeBytes(cache, 0)).isLessThan(codeBytes(cache, 10));
    }
  }

  private static long codeBytes(KvCache cache, int block) {
    return cache.view(LAYER, block).page().codeBytes();
  }

  private static void grow(KvCache cache, int tokens) {
    Random random = new Random(3);
    for (int i = 0; i < tokens; i++) {
      cache.reserve(cache.length() + 1);
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        float[] key = vector(random, SHAPE.kvHeads() * SHAPE.keyDim());
        float[] value = vector(random, SHAPE.kvHeads() * SHAPE.valueDim());
        cache.append(layer, cache.length(), key, 0, value, 0);
      }
      cache.advance(1);
    }
  }

  private static float[] vector(Random random, int count) {
    float[] x = new float[count];
    for (int i = 0; i < count; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }

  @Test
  void pagesAreRequantizedForOthersOfTheirPool() {
    MemoryPool enough = MemoryPool.unlimited();
    assertThat(firstPageNextToAnother(enough)).isEqualTo(method(POOLED).codeBytes(LAYER, 0));
    MemoryPool less = new MemoryPool(enough.peakBytes() * 9 / 10);
    assertThat(firstPageNextToAnother(less)).isLessThan(method(POOLED).codeBytes(LAYER, 0));
    assertThat(less.usedBytes()).isZero();
  }

  /** Returns the code bytes of a sequence's first page after another sequence has grown as long. */
  private long firstPageNextToAnother(MemoryPool pool) {
    CacheSpec spec = CacheSpec.parse(POOLED);
    try (KvCache first = spec.newCache(SHAPE, context.withMemory(pool));
        KvCache second = spec.newCache(SHAPE, context.withMemory(pool))) {
      grow(first, 1100);
      grow(second, 1100);
      return codeBytes(first, 0);
    }
  }

  @Test
  void withoutABudgetNothingIsRequantized() {
    assertThat(
            CacheSpec.parse("mead:3")
                .configFor(SHAPE)
                .cacheConfig(SHAPE, context)
                .codec()
                .orElseThrow())
        .isNotInstanceOf(RequantizingCodec.class);
  }

  @Test
  void invalidFloorsAreRejected() {
    assertThatThrownBy(() -> CacheSpec.parse("mead:2,budget=pool,floor=2.5").config())
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("the cache 'mead:2,budget=pool,floor=2.5': floor is 2.5; expected 0.75 to 2.0");
    assertThatThrownBy(() -> CacheSpec.parse("mead:2,floor=1.5").config())
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "the cache 'mead:2,floor=1.5': floor is for requantization; give a budget, as in"
                + " budget=64MiB");
  }
}
