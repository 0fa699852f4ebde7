package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.CacheBudget;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.pmkvq.PmkvqPage;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.profile.Profile;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A cache never exceeds its budget, whatever is done to it. */
@Tag("contract")
class BudgetTest {
  private static final CacheShape SHAPE = new CacheShape(3, 1, 32);
  private static final int VECTOR = SHAPE.kvHeads() * SHAPE.headDim();
  private static final long BLOCK_BYTES = 128 * SHAPE.valuesPerToken() * 2;

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void noStepOfARandomSequenceExceedsTheBudget(long seed) {
    Random random = new Random(seed);
    int budget = 200 + random.nextInt(400);
    String spec = randomSpec(random, budget);
    List<KvCache> caches = new ArrayList<>();
    try {
      caches.add(CacheSpec.parse(spec).newCache(SHAPE, context(random)));
      for (int step = 0; step < 150; step++) {
        KvCache cache = caches.get(random.nextInt(caches.size()));
        act(cache, caches, random);
        for (KvCache any : caches) {
          assertThat(any.bytes().total())
              .as("%s, seed %d, step %d, %d tokens", spec, seed, step, any.length())
              .isLessThanOrEqualTo(budget * 1024L);
        }
      }
    } finally {
      caches.forEach(KvCache::close);
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @ValueSource(longs = {4, 5, 6, 7, 8})
  void norDoStepsOfOtherSequences(long seed) {
    noStepOfARandomSequenceExceedsTheBudget(seed);
    noMomentOfARandomSequenceExceedsTheBudget(seed + 10);
  }

  private static String randomSpec(Random random, int budget) {
    return "pmkvq:%d,budget=%dKiB,window=%d,sinks=%d,shrink=%s,keys=%s"
        .formatted(
            2 << random.nextInt(3),
            budget,
            random.nextInt(200),
            random.nextInt(3) * 70,
            random.nextBoolean() ? "page" : "layer",
            random.nextBoolean() ? "channel" : "token");
  }

  /** The process counts allocated bytes, so the budget holds at every moment. */
  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13})
  void noMomentOfARandomSequenceExceedsTheBudget(long seed) {
    Random random = new Random(seed);
    int budget = 200 + random.nextInt(400);
    String spec = randomSpec(random, budget);
    long before = CountedArena.liveBytes();
    try (KvCache cache = CacheSpec.parse(spec).newCache(SHAPE, context(random))) {
      CountedArena.resetPeakBytes();
      for (int step = 0; step < 150; step++) {
        switch (random.nextInt(8)) {
          case 0 -> cache.truncate(random.nextInt(cache.length() + 1));
          case 1 -> cache.deferQuantization(random.nextBoolean());
          default -> append(cache, cache.stepCapacity(1 + random.nextInt(300)), random);
        }
        assertThat(CountedArena.peakBytes() - before)
            .as("%s, seed %d, step %d, %d tokens", spec, seed, step, cache.length())
            .isLessThanOrEqualTo(budget * 1024L);
      }
    }
  }

  private static void act(KvCache cache, List<KvCache> caches, Random random) {
    switch (random.nextInt(12)) {
      case 0 -> cache.truncate(random.nextInt(cache.length() + 1));
      case 1 -> cache.deferQuantization(random.nextBoolean());
      case 2 -> {
        if (caches.size() < 4) {
          caches.add(cache.fork());
        } else {
          caches.removeLast().close();
        }
      }
      default -> {
        int wanted = 1 + random.nextInt(300);
        int fits = cache.stepCapacity(wanted);
        if (fits < wanted) {
          CacheBytes before = cache.bytes();
          assertThatThrownBy(() -> cache.reserve(cache.length() + wanted))
              .isInstanceOf(CacheFullException.class);
          assertThat(cache.bytes()).isEqualTo(before);
        }
        append(cache, fits, random);
      }
    }
  }

  @Tag("thorough")
  @ParameterizedTest
  @CsvSource({"2, 0, 0, layer", "4, 100, 130, layer", "2, 128, 1, page", "8, 300, 5, page"})
  void soDoTheyWithOtherWindows(int bits, int window, int sinks, String shrink) {
    tokensThatComeOneByOneFillTheBudgetToItsCapacity(bits, window, sinks, shrink);
  }

  @ParameterizedTest
  @CsvSource({"2, 128, 1, layer", "8, 300, 5, layer", "2, 0, 0, page", "4, 100, 130, page"})
  void tokensThatComeOneByOneFillTheBudgetToItsCapacity(
      int bits, int window, int sinks, String shrink) {
    String text =
        "pmkvq:%d,budget=400KiB,window=%d,sinks=%d,shrink=%s"
            .formatted(bits, window, sinks, shrink);
    CacheSpec spec = CacheSpec.parse(text);
    Random random = new Random(3);
    long before = CountedArena.liveBytes();
    try (KvCache cache = spec.newCache(SHAPE)) {
      int capacity = cache.capacity();
      for (int length = 0; length < capacity; length++) {
        assertThat(cache.stepCapacity(1)).isOne();
        append(cache, 1, random);
        assertThat(CountedArena.liveBytes() - before).isLessThanOrEqualTo(400 * 1024);
        assertThat(cache.bytes()).isEqualTo(spec.bytesFor(SHAPE, cache.length()));
      }
      assertThat(cache.stepCapacity(1)).isZero();
      assertThatThrownBy(() -> cache.reserve(capacity + 1))
          .isInstanceOf(CacheFullException.class)
          .hasMessageContaining(
              "cannot take 1 tokens after %d; its 409600 bytes hold %d at the most"
                  .formatted(capacity, capacity));
      assertThat(cache.quantizationTime().requantizeNanos()).isPositive();
    }
  }

  @ParameterizedTest
  @CsvSource({"1000, 128, 1", "1, 128, 1", "300, 0, 0", "5000, 77, 200", "257, 128, 1"})
  void withoutABudgetTheContextJustFits(int tokens, int window, int sinks) {
    String keys = ",window=%d,sinks=%d".formatted(window, sinks);
    CacheContext context = CacheContext.unknown().withContextLimit(tokens);
    CacheSpec spec = CacheSpec.parse("pmkvq:2" + keys);
    CacheConfig settings = spec.configFor(SHAPE).cacheConfig(SHAPE, context);
    try (KvCache cache = spec.newCache(SHAPE, context)) {
      assertThat(cache.capacity()).isGreaterThanOrEqualTo(tokens);
      assertThat(cache.capacity()).isLessThan(tokens + 128 + sinks);
    }
    CacheBudget budget = settings.budget().orElseThrow();
    CacheConfig less =
        settings.withBudget(
            CacheBudget.of(
                budget.spec(),
                new PageBudget(SHAPE, settings).bytes() - 1,
                budget.scope(),
                budget.workers()));
    assertThat(new PageBudget(SHAPE, less).capacity()).isLessThan(tokens);
  }

  @Test
  void bitsAreCountedAtTheContextLimit() {
    CacheContext context = CacheContext.unknown().withContextLimit(1000);
    CacheConfig settings =
        CacheSpec.parse("pmkvq:2,budget=4.5bits").configFor(SHAPE).cacheConfig(SHAPE, context);
    assertThat(settings.budget().orElseThrow().bytes())
        .isEqualTo((long) (4.5 / 8 * 1000 * SHAPE.valuesPerToken()));
    assertThatThrownBy(() -> CacheSpec.parse("pmkvq:2,budget=4bits").newCache(SHAPE))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("'pmkvq:2,budget=4bits' must know how long a sequence may grow");
  }

  @Test
  void aBudgetThatHoldsNothingIsRefused() {
    assertThatThrownBy(() -> CacheSpec.parse("pmkvq:2,budget=1KiB").newCache(SHAPE))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("has 1024 bytes; its first tokens take");
  }

  @Test
  void layersAreRequantizedDownToTheProfilesFloor() {
    CacheContext context =
        CacheContext.unknown()
            .withProfile(
                Optional.of(Profile.empty("m").with("layers/widths", new float[] {2, 8, 4}, 3)));
    long budget = 3 * BLOCK_BYTES;
    CacheSpec spec = CacheSpec.parse("pmkvq:2,budget=%dKiB".formatted(budget / 1024));
    try (KvCache cache = spec.newCache(SHAPE, context)) {
      append(cache, cache.capacity(), 100, new Random(1));
      assertThat(widths(cache)).containsExactly(2, 8, 4);
      assertThat(cache.bytes()).isEqualTo(spec.bytesFor(SHAPE, context, cache.capacity()));
    }
    try (KvCache cache =
        CacheSpec.parse(spec.text().replace(":2", ":4")).newCache(SHAPE, context)) {
      append(cache, cache.capacity(), 100, new Random(1));
      assertThat(widths(cache)).as("none below what was asked for").containsExactly(4, 8, 4);
    }
    try (KvCache cache = CacheSpec.parse(spec + ",widths=same").newCache(SHAPE, context)) {
      append(cache, cache.capacity(), 100, new Random(1));
      assertThat(widths(cache)).containsExactly(2, 2, 2);
    }
  }

  /** The oldest pages are requantized, no more of them than necessary, and never by two levels. */
  @Test
  void pagesUseTheWholeBudget() {
    CacheSpec spec = CacheSpec.parse("pmkvq:2,budget=400KiB");
    long widestPage = 16 * 128 * SHAPE.valuesPerToken() / SHAPE.layers() / 8 * 5 / 4;
    try (KvCache cache = spec.newCache(SHAPE)) {
      boolean shrank = false;
      while (cache.stepCapacity(1) > 0) {
        append(cache, 1, new Random(1));
        int[] bits = widthsOfLayer(cache, 0);
        shrank |= bits.length > 0 && bits[0] < 16;
        for (int i = 1; i < bits.length; i++) {
          assertThat(bits[i]).isIn(bits[i - 1], 2 * bits[i - 1]);
        }
        if (shrank && bits[bits.length - 1] > 2) {
          // A coming page of each layer, one that would not fit, and the coming dense block.
          long least = 400 * 1024 - BLOCK_BYTES - 2 * SHAPE.layers() * widestPage;
          assertThat(cache.bytes().total()).as("%d tokens", cache.length()).isGreaterThan(least);
        }
      }
      assertThat(widthsOfLayer(cache, 0)).startsWith(2, 2, 2);
    }
  }

  /** A prompt may stay in full precision as long as no page is requantized for it. */
  @ParameterizedTest
  @CsvSource({"page, 700", "page, 1200", "layer, 700", "layer, 1200"})
  void aDeferredPromptGetsTheSameWidths(String shrink, int tokens) {
    CacheSpec spec = CacheSpec.parse("pmkvq:2,budget=400KiB,shrink=" + shrink);
    try (KvCache deferred = spec.newCache(SHAPE);
        KvCache plain = spec.newCache(SHAPE)) {
      deferred.deferQuantization(true);
      append(deferred, tokens, 100, new Random(1));
      deferred.deferQuantization(false);
      append(plain, tokens, 100, new Random(1));
      assertThat(widthsOfLayer(deferred, 0)).isEqualTo(widthsOfLayer(plain, 0));
    }
  }

  /** Requantizing one sequence does not affect another that shares its pages. */
  @Test
  void requantizingAForkLeavesOtherPagesAlone() {
    try (KvCache parent = CacheSpec.parse("pmkvq:2,budget=400KiB").newCache(SHAPE)) {
      append(parent, 500, 100, new Random(1));
      float[] before = keys(parent);
      int[] widths = widths(parent);
      try (KvCache fork = parent.fork()) {
        append(fork, fork.capacity() - 500, 1, new Random(2));
        assertThat(widths(fork)).containsOnly(2);
        assertThat(widths(parent)).isEqualTo(widths);
        assertThat(keys(parent)).isEqualTo(before);
      }
      assertThat(keys(parent)).isEqualTo(before);
    }
  }

  @Test
  void newPagesAfterACutAreWideAgain() {
    try (KvCache cache = CacheSpec.parse("pmkvq:2,budget=400KiB").newCache(SHAPE)) {
      append(cache, cache.capacity(), 1, new Random(1));
      cache.truncate(200);
      append(cache, 300, 50, new Random(2));
      assertThat(((PmkvqPage) cache.view(0, 1).page()).bits()).isEqualTo(2);
      assertThat(((PmkvqPage) cache.view(0, 2).page()).bits()).isEqualTo(16);
    }
  }

  private static CacheContext context(Random random) {
    float[] widths = {2 << random.nextInt(3), 2 << random.nextInt(3), 2 << random.nextInt(3)};
    Profile profile = Profile.empty("m").with("layers/widths", widths, 3);
    return CacheContext.unknown()
        .withProfile(random.nextBoolean() ? Optional.of(profile) : Optional.empty());
  }

  /** Returns the widths of the first quantized block, by layer. */
  private static int[] widths(KvCache cache) {
    int[] widths = new int[SHAPE.layers()];
    for (int layer = 0; layer < widths.length; layer++) {
      widths[layer] = ((PmkvqPage) cache.view(layer, 1).page()).bits();
    }
    return widths;
  }

  /** Returns the widths of the quantized blocks, oldest first. */
  private static int[] widthsOfLayer(KvCache cache, int layer) {
    return IntStream.rangeClosed(0, cache.blockOf(Math.max(0, cache.length() - 1)))
        .mapToObj(block -> cache.view(layer, block).page())
        .filter(Objects::nonNull)
        .mapToInt(page -> ((PmkvqPage) page).bits())
        .toArray();
  }

  private static float[] keys(KvCache cache) {
    float[] keys = new float[128 * SHAPE.headDim()];
    cache.view(1, 2).expandKeys(KernelChoice.ofThisProcess().kernels(), 0, 128, keys);
    return keys;
  }

  private static void append(KvCache cache, int tokens, int step, Random random) {
    for (int done = 0; done < tokens; ) {
      int count = cache.stepCapacity(Math.min(step, tokens - done));
      assertThat(count).isPositive();
      append(cache, count, random);
      done += count;
    }
  }

  private static void append(KvCache cache, int tokens, Random random) {
    int first = cache.length();
    cache.reserve(first + tokens);
    for (int i = 0; i < tokens; i++) {
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        cache.append(layer, first + i, vector(random), 0, vector(random), 0);
      }
    }
    cache.advance(tokens);
  }

  private static float[] vector(Random random) {
    float[] vector = new float[VECTOR];
    for (int i = 0; i < vector.length; i++) {
      vector[i] = random.nextFloat() - 0.5f;
    }
    return vector;
  }
}
