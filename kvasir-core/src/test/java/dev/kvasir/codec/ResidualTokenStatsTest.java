package dev.kvasir.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Compares the statistics with plain arrays, and their size with the allocated bytes. */
class ResidualTokenStatsTest {
  private static final int LAYERS = 2;
  private static final int KV_HEADS = 3;
  private static final int CAPACITY = 40;
  private static final long BASE_BYTES = 4 * CAPACITY * (1 + 2 * LAYERS * KV_HEADS);

  private long bytesBefore;
  private ResidualTokenStats tokens;

  @BeforeEach
  void begin() {
    bytesBefore = CountedArena.liveBytes();
    tokens = new ResidualTokenStats(LAYERS, KV_HEADS, CAPACITY, MemoryPool.unlimited());
  }

  @AfterEach
  void everyByteIsFreed() {
    tokens.close();
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
  }

  private void observe(int layer, int kvHead, int from, int... weights) {
    tokens.observeAttention(layer, kvHead, from, weights, weights.length);
  }

  private static int[] attentionMass(
      ResidualTokenStats of, int layer, int kvHead, int from, int count) {
    int[] out = new int[count];
    of.attentionMass(layer, kvHead, from, count, out);
    return out;
  }

  private int[] attentionMass(int from, int count) {
    return attentionMass(tokens, 0, 0, from, count);
  }

  @Test
  void unobservedTokensAreZero() {
    assertThat(tokens.tokenId(5)).isZero();
    assertThat(attentionMass(3, 2)).containsOnly(0);
    tokens.observeToken(7, 70);
    assertThat(tokens.tokenId(7)).isEqualTo(70);
    assertThat(tokens.tokenId(6)).isZero();
    assertThat(tokens.tokenId(8)).isZero();
    assertThat(attentionMass(6, 3)).containsOnly(0);
  }

  @Test
  void attentionCountsOnceItsStepIsCommitted() {
    observe(0, 0, 4, 1, 2);
    observe(0, 0, 5, 10, 20);
    observe(1, 2, 4, 7, 7);
    assertThat(attentionMass(4, 3)).containsOnly(0);
    tokens.commit(7);
    assertThat(attentionMass(4, 3)).containsExactly(1, 12, 20);
    assertThat(attentionMass(tokens, 1, 2, 4, 2)).containsExactly(7, 7);
    assertThat(attentionMass(tokens, 1, 1, 4, 2)).containsOnly(0);
  }

  @Test
  void anAbortedStepLeavesNothing() {
    observe(0, 0, 0, 1);
    tokens.commit(1);
    observe(0, 0, 0, 5, 5);
    observe(0, 0, 0, 6, 6, 6);
    tokens.observeToken(1, 11);
    observe(0, 0, 0, 100, 200);
    tokens.commit(2);
    assertThat(attentionMass(0, 3)).containsExactly(101, 200, 0);
  }

  @Test
  void anAbortedStepLeavesNothingForAStepWithoutQueries() {
    observe(0, 0, 0, 1);
    tokens.commit(1);
    observe(0, 0, 0, 5, 5, 5);
    tokens.commit(2);
    assertThat(attentionMass(0, 3)).containsExactly(1, 0, 0);
  }

  @Test
  void sumsSaturate() {
    observe(0, 0, 0, Integer.MAX_VALUE);
    tokens.commit(1);
    observe(0, 0, 0, 3, Integer.MAX_VALUE);
    observe(0, 0, 1, Integer.MAX_VALUE, 1);
    tokens.commit(3);
    assertThat(attentionMass(0, 3)).containsExactly(Integer.MAX_VALUE, Integer.MAX_VALUE, 1);
  }

  /** Steps have any size, blocks are dropped and sequences truncated. */
  @Test
  void sumsEqualThoseOfPlainArrays() {
    Random random = new Random(5);
    int[] ids = new int[4000];
    int[][] sums = new int[LAYERS * KV_HEADS][4000];
    int first = 0;
    int length = 0;
    while (length < 2000) {
      int step = random.nextInt(3) > 0 ? 1 : 1 + random.nextInt(60);
      for (int position = length; position < length + step; position++) {
        ids[position] = random.nextInt(1000);
        tokens.observeToken(position, ids[position]);
      }
      for (int head = 0; head < sums.length; head++) {
        for (int query = length; query < length + step; query++) {
          int from = Math.max(first, query - random.nextInt(20));
          int[] weights = random.ints(query - from + 1, 0, 100).toArray();
          tokens.observeAttention(head / KV_HEADS, head % KV_HEADS, from, weights, weights.length);
          for (int i = 0; i < weights.length; i++) {
            sums[head][from + i] += weights[i];
          }
        }
      }
      length += step;
      tokens.commit(length);
      while (length - first >= CAPACITY) {
        first += CAPACITY / 2;
        tokens.dropBefore(first);
      }
      if (random.nextInt(20) == 0) {
        int kept = first + random.nextInt(length - first + 1);
        tokens.truncate(kept);
        Arrays.fill(ids, kept, length, 0);
        for (int[] ofHead : sums) {
          Arrays.fill(ofHead, kept, length, 0);
        }
        length = kept;
      }
      assertThat(tokens.bytes()).isEqualTo(BASE_BYTES);
      assertThat(CountedArena.liveBytes() - bytesBefore).isEqualTo(BASE_BYTES);
      for (int position = first; position < length + 5; position++) {
        assertThat(tokens.tokenId(position)).isEqualTo(ids[position]);
      }
      for (int head = 0; head < sums.length; head++) {
        assertThat(
                attentionMass(tokens, head / KV_HEADS, head % KV_HEADS, first, length + 5 - first))
            .containsExactly(Arrays.copyOfRange(sums[head], first, length + 5));
      }
    }
  }

  @Test
  void memoryGrowsWhileQuantizationIsDeferredAndShrinksAfterwards() {
    for (int position = 0; position < 10 * CAPACITY; position++) {
      tokens.observeToken(position, position);
      observe(0, 0, position, position);
      tokens.commit(position + 1);
      assertThat(tokens.bytes()).isEqualTo(CountedArena.liveBytes() - bytesBefore);
      assertThat(tokens.bytes())
          .isLessThan(
              2 * ResidualTokenStats.bytesFor(LAYERS, KV_HEADS, Math.max(CAPACITY, position + 1)));
    }
    assertThat(tokens.tokenId(3)).isEqualTo(3);
    tokens.dropBefore(9 * CAPACITY);
    assertThat(tokens.bytes()).isEqualTo(BASE_BYTES);
    assertThat(tokens.tokenId(3)).isZero();
    assertThat(tokens.tokenId(9 * CAPACITY)).isEqualTo(9 * CAPACITY);
    assertThat(attentionMass(10 * CAPACITY - 1, 1)).containsExactly(10 * CAPACITY - 1);
  }

  @Test
  void withoutMemoryToShrinkItKeepsTheLargerBuffer() {
    long twice = 2 * BASE_BYTES;
    MemoryPool pool = new MemoryPool(3 * BASE_BYTES);
    try (ResidualTokenStats held = new ResidualTokenStats(LAYERS, KV_HEADS, CAPACITY, pool)) {
      held.observeToken(0, 1);
      held.observeToken(CAPACITY, 2);
      assertThat(held.bytes()).isEqualTo(twice);
      pool.acquire(1);
      held.dropBefore(CAPACITY);
      assertThat(held.bytes()).isEqualTo(twice);
      assertThat(held.tokenId(CAPACITY)).isEqualTo(2);
      pool.release(1);
      held.dropBefore(CAPACITY);
      assertThat(held.bytes()).isEqualTo(BASE_BYTES);
      assertThat(held.tokenId(CAPACITY)).isEqualTo(2);
    }
  }

  @Test
  void droppedTokensAreUnknownUntilObservedAgain() {
    for (int position = 0; position < 30; position++) {
      tokens.observeToken(position, 100 + position);
      observe(0, 0, position, 1);
    }
    tokens.commit(30);
    tokens.dropBefore(20);
    tokens.truncate(10);
    assertThat(tokens.tokenId(9)).isZero();
    tokens.observeToken(10, 5);
    observe(0, 0, 8, 3, 4, 5);
    tokens.commit(11);
    assertThat(tokens.tokenId(9)).isZero();
    assertThat(tokens.tokenId(10)).isEqualTo(5);
    assertThat(attentionMass(7, 5)).containsExactly(0, 3, 4, 5, 0);
  }

  @Test
  void attentionOfTruncatedTokensRemains() {
    observe(0, 0, 0, 1);
    observe(0, 0, 0, 2, 3);
    tokens.commit(2);
    tokens.truncate(1);
    assertThat(attentionMass(0, 2)).containsExactly(3, 0);
  }

  @Test
  void forksShareMemoryUntilOneOfThemWrites() {
    tokens.observeToken(0, 1);
    observe(0, 0, 0, 1);
    tokens.commit(1);
    try (ResidualTokenStats fork = tokens.fork()) {
      assertThat(CountedArena.liveBytes() - bytesBefore).isEqualTo(BASE_BYTES);
      fork.observeToken(1, 2);
      tokens.observeToken(1, 3);
      fork.observeAttention(0, 0, 0, new int[] {10, 10}, 2);
      fork.commit(2);
      assertThat(CountedArena.liveBytes() - bytesBefore).isEqualTo(2 * BASE_BYTES);
      assertThat(fork.tokenId(1)).isEqualTo(2);
      assertThat(tokens.tokenId(1)).isEqualTo(3);
      assertThat(attentionMass(fork, 0, 0, 0, 2)).containsExactly(11, 10);
      assertThat(attentionMass(0, 2)).containsExactly(1, 0);
    }
  }

  @Test
  void serializedStateExcludesPendingAttention() {
    tokens.observeToken(30, 5);
    tokens.observeToken(31, 6);
    observe(1, 1, 30, 8, 9);
    tokens.commit(32);
    tokens.observeToken(32, 7);
    observe(1, 1, 30, 1, 1, 1);
    ByteBuffer serialized = serialized();
    assertThat(serialized.remaining()).isEqualTo(8 + 2 * 4 * (1 + LAYERS * KV_HEADS));
    try (ResidualTokenStats read = read(serialized)) {
      assertThat(serialized.hasRemaining()).isFalse();
      assertThat(read.tokenId(30)).isEqualTo(5);
      assertThat(read.tokenId(31)).isEqualTo(6);
      assertThat(read.tokenId(32)).isZero();
      assertThat(attentionMass(read, 1, 1, 30, 3)).containsExactly(8, 9, 0);
      assertThat(read.serializedBytes()).isEqualTo(tokens.serializedBytes());
      assertThat(read.bytes()).isEqualTo(tokens.bytes());
    }
  }

  @Test
  void invalidBytesAreRejected() {
    tokens.observeToken(3, 5);
    observe(0, 0, 3, 8);
    tokens.commit(4);
    assertThatThrownBy(() -> read(serialized().putInt(0, -1)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("a stored state has position -1; expected 0 or more");
    assertThatThrownBy(() -> read(serialized().putInt(4, 2)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("a stored state has 2 tokens from position 3 on in 28 bytes");
    assertThatThrownBy(() -> read(serialized().putInt(4, -2)))
        .isInstanceOf(InvalidInputException.class);
    assertThatThrownBy(() -> read(serialized().putInt(0, Integer.MAX_VALUE)))
        .isInstanceOf(InvalidInputException.class);
    assertThatThrownBy(() -> read(serialized().putInt(8, -7)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("a stored state has a token of -7; expected 0 or more");
    assertThatThrownBy(() -> read(serialized().putInt(12, -7)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("a stored state has received attention of -7; expected 0 or more");
  }

  private ByteBuffer serialized() {
    ByteBuffer out = ByteBuffer.allocate((int) tokens.serializedBytes());
    tokens.write(out.order(ByteOrder.LITTLE_ENDIAN));
    assertThat(out.hasRemaining()).isFalse();
    return out.flip();
  }

  private static ResidualTokenStats read(ByteBuffer in) {
    return ResidualTokenStats.read(LAYERS, KV_HEADS, CAPACITY, MemoryPool.unlimited(), in);
  }
}
