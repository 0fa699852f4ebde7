package dev.kvasir.codec.mead;

import static dev.kvasir.codec.mead.SyntheticBlocks.SHAPE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.CountedArena;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Layers with sliding windows. */
class MeadWindowsTest {
  private static final String SPEC = "mead:2,tables=off,first=coded,sinks=0,late-sinks=3";
  private static final CacheShape LOCAL =
      SHAPE.withWindows(new LayerWindows(List.of(300, LayerWindows.UNBOUNDED)));

  private final ModelTables tables = new ModelTables();
  private final CacheContext context = SyntheticBlocks.context(tables);

  @AfterEach
  void close() {
    tables.close();
  }

  private PageCodec codec(CacheShape shape) {
    return CacheSpec.parse(SPEC).configFor(shape).cacheConfig(shape, context).codec().orElseThrow();
  }

  /** A window that is as long as the context evicts nothing; a longer context is another window. */
  @Test
  void aSequenceThatEvictedNothingContinuesWhereLayersEvict() {
    try (KvCache whole = CacheSpec.parse(SPEC).newCache(SHAPE, context)) {
      append(whole, 290);
      try (KvCache local = CacheSpec.parse(SPEC).restore(LOCAL, context, whole.snapshot())) {
        assertThat(local.length()).isEqualTo(290);
        append(local, 300);
        append(whole, 300);
        assertThat(local.firstRetained(0)).isPositive();
        assertThat(local.bytes().total()).isLessThan(whole.bytes().total());
      }
    }
  }

  @Test
  void sinksOfPagesThatAreThereCountOnce() {
    try (SequenceCodec whole = codec(SHAPE).newSequence()) {
      SyntheticBlocks.observeAttention(whole, 0, 5, 77);
      try (Page page = SyntheticBlocks.quantizeBlock(whole, 0);
          SequenceCodec local = codec(LOCAL).resumeSequence(whole.serializeState());
          Page read = local.deserialize(SyntheticBlocks.LAYER, page.serialize())) {
        SyntheticBlocks.observeAttention(local, 1, 5, 77);
        try (Page next = SyntheticBlocks.quantizeBlock(local, 1)) {
          assertThat(SyntheticBlocks.isExact(read, 0, 77)).isTrue();
          assertThat(SyntheticBlocks.isExact(next, 1, 5)).isTrue();
          assertThat(SyntheticBlocks.isExact(next, 1, 77))
              .as("of three slots the fourth")
              .isFalse();
        }
      }
    }
  }

  @Test
  void sinksOfEvictedPagesCountInAStoredSequence() {
    try (SequenceCodec sequence = codec(LOCAL).newSequence()) {
      SyntheticBlocks.observeAttention(sequence, 0, 5, 77);
      SyntheticBlocks.quantizeBlock(sequence, 0).close();
      try (SequenceCodec resumed = codec(LOCAL).resumeSequence(sequence.serializeState())) {
        SyntheticBlocks.observeAttention(resumed, 1, 5, 77);
        try (Page next = SyntheticBlocks.quantizeBlock(resumed, 1)) {
          assertThat(SyntheticBlocks.isExact(next, 1, 5)).isTrue();
          assertThat(SyntheticBlocks.isExact(next, 1, 77))
              .as("of three slots the fourth")
              .isFalse();
        }
      }
    }
  }

  @Test
  void aStateOfLayersThatEvictIsRefusedWhereNoneDoes() {
    try (SequenceCodec local = codec(LOCAL).newSequence()) {
      assertThatThrownBy(() -> codec(SHAPE).resumeSequence(local.serializeState()))
          .isInstanceOf(InvalidInputException.class)
          .hasMessage("a stored state is of kind 62; this cache reads kind 60");
    }
  }

  /** What is observed is dropped when a block is quantized, which never happens here. */
  @Test
  void withoutQuantizedLayersNoAttentionIsObserved() {
    CacheShape shortWindows = SHAPE.withWindows(new LayerWindows(List.of(200, 255)));
    try (SequenceCodec none = codec(shortWindows).newSequence();
        SequenceCodec fork = none.fork();
        SequenceCodec one = codec(LOCAL).newSequence()) {
      assertThat(none.attentionHorizon()).isZero();
      assertThat(fork.attentionHorizon()).isZero();
      assertThat(one.attentionHorizon()).isEqualTo(Page.TOKENS);
    }
  }

  /** A fork takes the slots that this sequence needs next, and is closed. */
  @Test
  void slotsOfEvictedPagesAreNotCounted() {
    PageCodec codec = codec(LOCAL);
    long before = CountedArena.liveBytes();
    try (SequenceCodec sequence = codec.newSequence()) {
      SyntheticBlocks.observeAttention(sequence, 0, 5);
      Page evicted = SyntheticBlocks.quantizeBlock(sequence, 0);
      SequenceCodec fork = sequence.fork();
      SyntheticBlocks.observeAttention(fork, 1, 6, 7);
      Page ofFork = SyntheticBlocks.quantizeBlock(fork, 1);
      SyntheticBlocks.observeAttention(sequence, 1, 8);
      try (Page next = SyntheticBlocks.quantizeBlock(sequence, 1)) {
        long slots = sequence.tableBytes() - codec.tableBytes(0);
        assertThat(slots).as("a second set of slots").isPositive();
        ofFork.close();
        fork.close();
        evicted.close();
        assertThat(SyntheticBlocks.isExact(next, 1, 8)).isTrue();
        assertThat(sequence.tableBytes()).isEqualTo(codec.tableBytes(0));
      }
    }
    assertThat(CountedArena.liveBytes()).isEqualTo(before);
  }

  private static void append(KvCache cache, int tokens) {
    Random random = new Random(cache.length());
    for (int i = 0; i < tokens; i++) {
      cache.reserve(cache.length() + 1);
      for (int layer = 0; layer < SHAPE.layers(); layer++) {
        float[] keys = vector(random, SHAPE.keyDim());
        float[] values = vector(random, SHAPE.valueDim());
        cache.append(layer, cache.length(), keys, 0, values, 0);
      }
      cache.advance(1);
    }
  }

  private static float[] vector(Random random, int channels) {
    float[] x = new float[SHAPE.kvHeads() * channels];
    for (int i = 0; i < x.length; i++) {
      x[i] = (float) random.nextGaussian();
    }
    return x;
  }
}
