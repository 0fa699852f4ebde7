package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.commvq.SyntheticCodebooks;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One byte budget for all sequences of a pool. */
class MemoryPoolTest {
  private static final CacheShape SHAPE = new CacheShape(2, 2, 32);
  private static final int VECTOR = SHAPE.kvHeads() * SHAPE.headDim();
  private static final long DENSE_BLOCK = 128 * 2 * SHAPE.valuesPerToken();

  private final SplittableRandom random = new SplittableRandom(3);
  private final ModelTables tables = new ModelTables();
  private long before;

  @BeforeEach
  void remember() {
    before = CountedArena.liveBytes();
  }

  @AfterEach
  void freeTables() {
    tables.close();
  }

  private CacheContext context(MemoryPool pool) {
    return CacheContext.unknown()
        .withQueryHeads(SHAPE.kvHeads())
        .withRotation(
            Optional.of(new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, 32))))
        .withProfile(Optional.of(SyntheticCodebooks.profile(SHAPE, 1)))
        .withTables(Optional.of(tables))
        .withMemory(pool);
  }

  private KvCache newCache(String spec, MemoryPool pool) {
    return CacheSpec.parse(spec).newCache(SHAPE, context(pool));
  }

  private void append(KvCache cache, int tokens) {
    for (int i = 0; i < tokens; i++) {
      cache.reserve(cache.length() + 1);
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        cache.append(layer, cache.length(), vector(), 0, vector(), 0);
      }
      if (cache.observer().observesQueries()) {
        for (int layer = 0; layer < SHAPE.layers(); layer++) {
          cache.observer().observe(layer, cache.length(), vector(), 0);
        }
      }
      cache.advance(1);
    }
  }

  private float[] vector() {
    float[] vector = new float[VECTOR];
    for (int i = 0; i < VECTOR; i++) {
      vector[i] = (float) random.nextGaussian();
    }
    return vector;
  }

  /** Used bytes are allocated bytes, plus what dense blocks reserve for their pages. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2,window=40",
        "kivi:4,sinks=5",
        "patternkv:2,window=0",
        "mixkvq,high=2.8,mid=2,window=40",
        "pmkvq:2,budget=1MiB",
        "pmkvq:2,budget=pool",
        "commvq:1,window=0"
      })
  void usedBytesAreAllocatedBytes(String spec) {
    MemoryPool pool = MemoryPool.unlimited();
    List<KvCache> caches = new ArrayList<>();
    caches.add(newCache(spec, pool));
    long shared = CountedArena.liveBytes() - before - caches.getFirst().bytes().total();
    append(caches.getFirst(), 400);
    caches.add(caches.getFirst().fork());
    append(caches.get(1), 150);
    append(caches.getFirst(), 10);
    caches.getFirst().truncate(200);
    caches.add(caches.get(1).fork());
    long allocated = CountedArena.liveBytes() - before - shared;
    assertThat(pool.usedBytes()).isBetween(allocated, allocated + 9 * DENSE_BLOCK);
    while (!caches.isEmpty()) {
      caches.removeLast().close();
    }
    assertThat(pool.usedBytes()).isZero();
    assertThat(CountedArena.liveBytes() - before).isEqualTo(shared);
  }

  @Test
  void pagesThatForksShareAreCountedOnce() {
    MemoryPool pool = MemoryPool.unlimited();
    try (KvCache cache = newCache("kivi:2,window=0", pool)) {
      append(cache, 512);
      long alone = pool.usedBytes();
      try (KvCache fork = cache.fork()) {
        assertThat(pool.usedBytes()).isEqualTo(alone);
        append(fork, 128);
        assertThat(pool.usedBytes()).isLessThan(2 * alone);
      }
      assertThat(pool.usedBytes()).isEqualTo(alone);
    }
  }

  @Test
  void requestsBeyondTheLimitChangeNothing() {
    MemoryPool pool = new MemoryPool(3 * DENSE_BLOCK);
    try (KvCache first = newCache("fp16", pool);
        KvCache second = newCache("fp16", pool)) {
      append(first, 256);
      append(second, 128);
      long taken = pool.usedBytes();
      assertThatThrownBy(() -> second.reserve(129))
          .isInstanceOf(CacheFullException.class)
          .hasMessageContaining("cannot take 1 tokens after 128")
          .hasMessageContaining("%,d of %,d are taken".formatted(3 * DENSE_BLOCK, 3 * DENSE_BLOCK));
      assertThat(pool.usedBytes()).isEqualTo(taken);
      assertThat(second.length()).isEqualTo(128);
      first.truncate(0);
      append(second, 1);
      assertThat(second.length()).isEqualTo(129);
    }
  }

  /** Only a page that is about to be replaced exceeds the budget. */
  @Test
  void appendedTokensCanAlwaysBeQuantized() {
    MemoryPool pool = new MemoryPool(8 * DENSE_BLOCK);
    List<KvCache> caches = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      caches.add(newCache("kivi:2,window=0", pool));
    }
    boolean full = false;
    while (!full) {
      for (KvCache cache : caches) {
        try {
          append(cache, 1);
        } catch (CacheFullException e) {
          full = true;
        }
      }
      assertThat(pool.usedBytes()).isLessThanOrEqualTo(pool.limit());
    }
    assertThat(caches).allSatisfy(cache -> assertThat(cache.length()).isGreaterThan(8 * 128));
    caches.forEach(KvCache::close);
    assertThat(pool.usedBytes()).isZero();
  }

  @Test
  void pagesAreRequantizedForAnotherSequence() {
    MemoryPool pool = new MemoryPool(12 * DENSE_BLOCK);
    try (KvCache old = newCache("pmkvq:2,budget=pool", pool);
        KvCache young = newCache("pmkvq:2,budget=pool", pool)) {
      append(old, 8 * 128);
      Page wide = old.view(0, 1).page();
      long before = wide.codeBytes();
      append(young, 8 * 128);
      assertThat(old.view(0, 1).page().codeBytes()).isLessThan(before);
      assertThat(old.length()).isEqualTo(8 * 128);
      assertThat(young.length()).isEqualTo(8 * 128);
      assertThat(pool.usedBytes()).isLessThanOrEqualTo(pool.limit());
    }
    assertThat(pool.usedBytes()).isZero();
  }

  @Test
  void pinnedPagesAreNotRequantized() throws InterruptedException {
    MemoryPool pool = new MemoryPool(12 * DENSE_BLOCK);
    try (KvCache old = newCache("pmkvq:2,budget=pool", pool);
        KvCache young = newCache("fp16", pool)) {
      append(old, 9 * 128);
      long before = old.bytes().total();
      old.pin();
      Thread other =
          Thread.ofPlatform()
              .start(
                  () ->
                      assertThatThrownBy(() -> young.reserve(6 * 128))
                          .isInstanceOf(CacheFullException.class));
      other.join();
      assertThat(old.bytes().total()).isEqualTo(before);
      old.unpin();
      young.reserve(6 * 128);
      assertThat(old.bytes().total()).isLessThan(before);
    }
  }

  @Test
  void aCutWithoutMemoryDropsThePage() {
    MemoryPool pool = new MemoryPool(6 * DENSE_BLOCK);
    try (KvCache cache = newCache("kivi:2,window=0", pool);
        KvCache other = newCache("fp16", pool)) {
      append(cache, 10 * 128);
      while (pool.limit() - pool.usedBytes() >= DENSE_BLOCK) {
        append(other, 128);
      }
      cache.truncate(9 * 128 + 70);
      assertThat(cache.length()).isEqualTo(9 * 128);
      other.truncate(0);
      append(cache, 10);
      assertThat(cache.length()).isEqualTo(9 * 128 + 10);
    }
  }
}
