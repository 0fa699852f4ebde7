package dev.kvasir.codec.mead;

import static dev.kvasir.codec.mead.SyntheticBlocks.LAYER;
import static dev.kvasir.codec.mead.SyntheticBlocks.SHAPE;
import static dev.kvasir.codec.mead.SyntheticBlocks.isExact;
import static dev.kvasir.codec.mead.SyntheticBlocks.keys;
import static dev.kvasir.codec.mead.SyntheticBlocks.observeAttention;
import static dev.kvasir.codec.mead.SyntheticBlocks.quantizeBlock;
import static dev.kvasir.codec.mead.SyntheticBlocks.values;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.SnapshotAssertions;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that tokens with many times the attention of others stay unquantized. */
class LateSinksTest {
  private static final int TOKENS = Page.TOKENS;
  private static final long SLOT_BYTES = 2 * 2 * (24 + 20);

  /** Index on the page of the sinks. */
  private static final int FIRST = 5;

  private static final int SECOND = 77;

  private final ModelTables tables = new ModelTables();
  private long bytesBefore;
  private long arenasBefore;
  private PageCodec method;
  private PageCodec withoutSlots;
  private SequenceCodec sequence;

  @BeforeEach
  void begin() {
    method = method("mead:1.5,first=coded,sinks=0,late-sinks=3");
    withoutSlots = method("mead:1.5,first=coded,sinks=0,late-sinks=0");
    bytesBefore = CountedArena.liveBytes();
    arenasBefore = CountedArena.liveArenas();
    sequence = method.newSequence();
  }

  @AfterEach
  void everyByteIsFreed() {
    sequence.close();
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
    assertThat(CountedArena.liveArenas()).isEqualTo(arenasBefore);
    tables.close();
  }

  private PageCodec method(String spec) {
    return CacheSpec.parse(spec)
        .configFor(SHAPE)
        .cacheConfig(SHAPE, SyntheticBlocks.context(tables))
        .codec()
        .orElseThrow();
  }

  @Test
  void aTokenWithEightTimesTheMeanStaysUnquantized() {
    observeAttention(sequence, 0, FIRST, SECOND);
    try (Page page = quantizeBlock(sequence, 0)) {
      assertThat(isExact(page, 0, FIRST)).isTrue();
      assertThat(isExact(page, 0, SECOND)).isTrue();
      assertThat(isExact(page, 0, SECOND + 1)).isFalse();
    }
  }

  @Test
  void aTokenWithLessIsQuantized() {
    for (int token = 0; token < TOKENS; token++) {
      // 800 among 128 tokens of 100: a mean of 105.5, and 7.6 times that.
      int[] weights = {token == FIRST ? 800 : 100};
      sequence.observeAttention(LAYER, 0, token, weights, 1);
    }
    sequence.commit(TOKENS);
    try (Page page = quantizeBlock(sequence, 0)) {
      assertThat(isExact(page, 0, FIRST)).isFalse();
    }
  }

  @Test
  void attentionOnCodesMatchesDequantizedAttention() {
    observeAttention(sequence, 0, FIRST, SECOND);
    try (Page page = quantizeBlock(sequence, 0)) {
      for (int head = 0; head < SHAPE.kvHeads(); head++) {
        SyntheticBlocks.assertAttention(page, head);
      }
    }
  }

  @Test
  void theFirstSinksOfASequenceGetTheSlots() {
    observeAttention(sequence, 0, FIRST, SECOND);
    observeAttention(sequence, 1, FIRST, SECOND);
    try (Page first = quantizeBlock(sequence, 0);
        Page second = quantizeBlock(sequence, 1)) {
      assertThat(isExact(first, 0, SECOND)).isTrue();
      assertThat(isExact(second, 1, FIRST)).isTrue();
      assertThat(isExact(second, 1, SECOND)).as("of three slots the fourth").isFalse();
    }
  }

  @Test
  void slotsTakeTheSameBytesWhetherTheyAreUsedOrNot() {
    long before = sequence.tableBytes();
    assertThat(before).isEqualTo(method.tableBytes(0));
    assertThat(before).isEqualTo(withoutSlots.tableBytes(0) + SHAPE.layers() * 3 * SLOT_BYTES);
    observeAttention(sequence, 0, FIRST, SECOND);
    try (Page page = quantizeBlock(sequence, 0);
        Page without = quantizeBlock(sequence, 1)) {
      assertThat(isExact(page, 0, FIRST)).isTrue();
      assertThat(sequence.tableBytes()).isEqualTo(before);
      assertThat(page.codeBytes()).isEqualTo(without.codeBytes());
      assertThat(page.scaleBytes()).isEqualTo(without.scaleBytes());
    }
  }

  @Test
  void aTruncatedPageFreesItsSlots() {
    observeAttention(sequence, 0, FIRST);
    observeAttention(sequence, 1, FIRST, SECOND);
    try (Page first = quantizeBlock(sequence, 0)) {
      quantizeBlock(sequence, 1).close();
      sequence.truncate(TOKENS + 3);
      observeAttention(sequence, 1, FIRST, SECOND);
      try (Page again = quantizeBlock(sequence, 1)) {
        assertThat(isExact(first, 0, FIRST)).isTrue();
        assertThat(isExact(again, 1, FIRST)).isTrue();
        assertThat(isExact(again, 1, SECOND)).isTrue();
        assertThat(sequence.tableBytes()).isEqualTo(method.tableBytes(2));
      }
    }
  }

  @Test
  void forksHaveSeparateSlotsOnceTheyDiverge() {
    observeAttention(sequence, 0, FIRST);
    try (Page shared = quantizeBlock(sequence, 0);
        SequenceCodec fork = sequence.fork()) {
      assertThat(fork.tableBytes()).isEqualTo(sequence.tableBytes());
      observeAttention(sequence, 1, FIRST, SECOND);
      observeAttention(fork, 1, SECOND, FIRST + 1);
      try (Page own = quantizeBlock(sequence, 1);
          Page other = quantizeBlock(fork, 1)) {
        assertThat(isExact(shared, 0, FIRST)).isTrue();
        assertThat(isExact(own, 1, FIRST)).isTrue();
        assertThat(isExact(own, 1, SECOND)).isTrue();
        assertThat(isExact(other, 1, FIRST + 1)).isTrue();
        assertThat(isExact(other, 1, SECOND)).isTrue();
        assertThat(isExact(other, 1, FIRST)).isFalse();
        assertThat(fork.tableBytes())
            .isEqualTo(sequence.tableBytes() + SHAPE.layers() * 3 * SLOT_BYTES);
      }
    }
  }

  @Test
  void aForkOutlivesItsParent() {
    observeAttention(sequence, 0, FIRST);
    Page shared = quantizeBlock(sequence, 0);
    SequenceCodec fork = sequence.fork();
    sequence.close();
    sequence = fork;
    observeAttention(sequence, 1, SECOND);
    try (shared;
        Page next = quantizeBlock(sequence, 1)) {
      assertThat(isExact(shared, 0, FIRST)).isTrue();
      assertThat(isExact(next, 1, SECOND)).isTrue();
    }
  }

  @Test
  void serializedPagesIncludeExactRows() {
    observeAttention(sequence, 0, FIRST, SECOND);
    observeAttention(sequence, 1, FIRST, SECOND);
    Page first = sequence.quantize(0, 0, keys(0), values(0));
    byte[] ids = first.serialize();
    Page page = sequence.quantize(LAYER, 0, keys(0), values(0));
    byte[] form = page.serialize();
    first.close();
    page.close();
    try (SequenceCodec resumed = method.resumeSequence(sequence.serializeState());
        Page firstRead = resumed.deserialize(0, ids);
        Page read = resumed.deserialize(LAYER, form);
        Page next = quantizeBlock(resumed, 1)) {
      assertThat(firstRead.serialize()).isEqualTo(ids);
      assertThat(read.serialize()).isEqualTo(form);
      assertThat(isExact(read, 0, FIRST)).isTrue();
      assertThat(isExact(next, 1, FIRST)).isTrue();
      assertThat(isExact(next, 1, SECOND)).as("of three slots the fourth").isFalse();
      assertThat(resumed.tableBytes()).isEqualTo(sequence.tableBytes());
    }
  }

  @Test
  void invalidSinksAreRejected() {
    observeAttention(sequence, 0, FIRST, SECOND);
    byte[] form;
    try (Page page = quantizeBlock(sequence, 0)) {
      form = page.serialize();
    }
    int count = 10 + Double.BYTES + Integer.BYTES;
    assertRejected(form, count, 4, "keeps 4 tokens; this cache keeps up to 3");
    assertRejected(
        form, count + 1, 200, "keeps token 200 after -1; expected rising places below 128");
    assertRejected(
        form, count + 2, FIRST, "keeps token 5 after 5; expected rising places below 128");
    assertRejected(form, count + 4, 0x7C, "keeps a token with a number that is not finite");
  }

  private void assertRejected(byte[] form, int at, int value, String sentence) {
    byte[] wrong = form.clone();
    wrong[at] = (byte) value;
    assertThatThrownBy(() -> sequence.deserialize(LAYER, SnapshotAssertions.withChecksum(wrong)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("a stored page " + sentence);
  }

  @Test
  void moreThanEightSlotsAreRejected() {
    assertThatThrownBy(() -> CacheSpec.parse("mead:2,late-sinks=9").config())
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("the cache 'mead:2,late-sinks=9': late-sinks is 9; expected 0 to 8");
  }

  @Test
  void aSequenceWithoutMemoryLeaksNothing() {
    MemoryPool pool = new MemoryPool(method.tableBytes(0) - 1);
    assertThatThrownBy(() -> method.newSequence(pool)).isInstanceOf(InvalidInputException.class);
    assertThat(pool.usedBytes()).isZero();
  }
}
