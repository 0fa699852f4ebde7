package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Pages that are made before their tokens leave the window. */
class PackingAheadTest {
  private static final CacheShape SHAPE = new CacheShape(3, 2, 32);
  private static final int VECTOR = SHAPE.kvHeads() * SHAPE.headDim();

  private final long before = CountedArena.liveBytes();
  private final MemoryPool pool = MemoryPool.unlimited();

  @AfterEach
  void allMemoryComesBack() {
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
    assertThat(pool.taken()).isZero();
  }

  private KvCache newCache(String spec) {
    return CacheSpec.parse(spec)
        .newCache(SHAPE, CacheHost.unknown().withQueryHeads(2).withMemory(pool));
  }

  private static void append(KvCache cache, Random random) {
    cache.reserve(cache.length() + 1);
    for (int layer = 0; layer < SHAPE.layers(); layer++) {
      float[] vector = new float[VECTOR];
      for (int i = 0; i < VECTOR; i++) {
        vector[i] = (float) random.nextGaussian();
      }
      cache.append(layer, cache.length(), vector, 0, vector, 0);
    }
    cache.count(1);
  }

  private static void checkHoldTheSame(KvCache one, KvCache other) {
    for (int block = 0; one.firstPosition(block) < one.length(); block++) {
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        Page page = one.page(layer, block);
        Page twin = other.page(layer, block);
        assertThat(page == null).isEqualTo(twin == null);
        if (page != null) {
          assertThat(page.form()).isEqualTo(twin.form());
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"kivi:2", "kivi:4,window=0", "kivi:2,window=40,sinks=5"})
  void areTheSamePagesAndShowWhenTheyAreDue(String spec) {
    Random random = new Random(1);
    Random same = new Random(1);
    try (KvCache ahead = newCache(spec);
        KvCache plain = newCache(spec)) {
      for (int i = 0; i < 700; i++) {
        append(ahead, random);
        append(plain, same);
        if (ahead.length() % 256 == 0) {
          assertThat(ahead.mustSettle()).isEqualTo(plain.mustSettle());
          ahead.settle();
          plain.settle();
          assertThat(ahead.mustSettle()).isFalse();
          checkHoldTheSame(ahead, plain);
        }
        ahead.packAhead();
        assertThat(ahead.bytes().total() + plain.bytes().total())
            .isEqualTo(CountedArena.liveBytes() - before);
        assertThat(ahead.runs()).isEqualTo(plain.runs());
      }
    }
  }

  @Test
  void areForgottenWhereTokensAre() {
    Random random = new Random(2);
    try (KvCache cache = newCache("kivi:2")) {
      for (int i = 0; i < 200; i++) {
        append(cache, random);
        cache.packAhead();
      }
      long held = cache.bytes().total();
      try (KvCache fork = cache.fork()) {
        cache.truncate(100);
        assertThat(cache.bytes().total()).isLessThan(held);
        for (KvCache one : new KvCache[] {cache, fork}) {
          while (one.length() < 300) {
            append(one, random);
          }
          one.settle();
          assertThat(one.page(2, 0)).isNotNull();
        }
        assertThat(cache.page(2, 0).form()).isNotEqualTo(fork.page(2, 0).form());
      }
    }
  }

  @Test
  void areNotMadeByMethodsThatLearnOfTheSequence() {
    Random random = new Random(4);
    try (KvCache cache = newCache("patternkv:2,rope=static")) {
      for (int i = 0; i < 200; i++) {
        append(cache, random);
        long held = cache.bytes().total();
        cache.packAhead();
        assertThat(cache.bytes().total()).isEqualTo(held);
      }
    }
  }
}
