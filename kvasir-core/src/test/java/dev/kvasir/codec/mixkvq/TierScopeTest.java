package dev.kvasir.codec.mixkvq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.uniform.UniformPage;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The tokens that share their tiers: slices of a page, several pages, or a prompt. */
@Tag("contract")
class TierScopeTest {
  private static final int CHANNELS = 64;
  private static final int BLOCK = 128;
  private static final CacheShape SHAPE = new CacheShape(1, 1, CHANNELS);
  private static final String SPEC = "mixkvq,high=1000,mid=5,salience=error,sinks=0,window=0";

  /**
   * Eight channels have a wide range in the first 32 of 384 tokens only. They take two more bits in
   * every token that shares their tiers.
   */
  @ParameterizedTest
  @CsvSource({"32, 32", "64, 64", "96, 96", "128, 128", "256, 256", "384, 384"})
  void wideChannelsTakeMoreBitsInAsManyTokensAsShareThem(int residual, int wideTokens) {
    int blocks = residual == 256 ? 4 : 3;
    try (KvCache cache = newCache(SPEC + ",residual=" + residual)) {
      append(cache, new Random(3), blocks * BLOCK, 32);
      assertThat(cache.view(0, blocks - 1).page()).isNotNull();
      long twoBits = 2L * blocks * BLOCK * CHANNELS * 2 / 8;
      assertThat(cache.bytes().codes()).isEqualTo(twoBits + wideTokens * 8L * 2 / 8);
    }
  }

  /** A prompt of three blocks has one map; what follows has maps of its own. */
  @Test
  void aPromptMayShareItsTiers() {
    try (KvCache shared = newCache(SPEC + ",tiers=prompt");
        KvCache each = newCache(SPEC)) {
      for (KvCache cache : List.of(shared, each)) {
        cache.deferQuantization(true);
        append(cache, new Random(3), 3 * BLOCK, 32);
        cache.deferQuantization(false);
      }
      assertThat(orders(shared)).hasSize(3);
      assertThat(Set.copyOf(orders(shared))).hasSize(1);
      assertThat(orders(shared).getFirst()).isEqualTo(orders(each).getFirst());
      assertThat(orders(each).get(1)).isNotEqualTo(orders(each).getFirst());
      for (KvCache cache : List.of(shared, each)) {
        append(cache, new Random(4), BLOCK, 0);
      }
      assertThat(orders(shared).getLast()).isEqualTo(orders(each).getLast());
      assertThat(shared.bytes().codes()).isGreaterThan(each.bytes().codes());
    }
  }

  private static KvCache newCache(String spec) {
    return CacheSpec.parse(spec).newCache(SHAPE);
  }

  /** Appends tokens; every eighth channel is wide in the first of them. */
  private static void append(KvCache cache, Random random, int tokens, int wideTokens) {
    float[] keys = new float[CHANNELS];
    float[] values = new float[CHANNELS];
    for (int token = 0; token < tokens; token++) {
      for (int i = 0; i < CHANNELS; i++) {
        float range = token < wideTokens && i % 8 == 0 ? 20 : 1;
        keys[i] = range * (token % 2 == 0 ? 1 : -1) * (0.5f + random.nextFloat() / 2);
        values[i] = random.nextFloat();
      }
      int position = cache.length();
      cache.reserve(position + 1);
      cache.append(0, position, keys, 0, values, 0);
      cache.advance(1);
    }
  }

  /** Returns the channel order of every quantized block, or the empty list without tiers. */
  private static List<List<Integer>> orders(KvCache cache) {
    List<List<Integer>> orders = new ArrayList<>();
    for (int block = 0; block * BLOCK < cache.length(); block++) {
      UniformPage page = (UniformPage) cache.view(0, block).page();
      List<Integer> order = new ArrayList<>();
      for (int i = 0; i < CHANNELS; i++) {
        order.add(page.channelAt(0, i));
      }
      orders.add(order);
    }
    return orders;
  }
}
