package dev.kvasir.cuda.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Sequences of a GPU that are stored and restored there. */
@NeedsDevice
class StoredSequenceTest {
  private static final int MAX_TOKENS = 2000;

  private static CudaEngine engine;
  private static int[] prose;

  @BeforeAll
  static void open() throws IOException {
    prose = BundledModel.prose();
    engine = BundledModel.device(CacheSpec.DEFAULT);
  }

  @AfterEach
  void closedCachesHoldNoPages() {
    assertThat(engine.memory().usedBytes()).as("bytes of pages that nobody holds").isZero();
  }

  @AfterAll
  static void close() {
    if (engine != null) {
      engine.close();
      assertThat(engine.bytes()).as("bytes that were not given back").isZero();
    }
  }

  private static KvCache cache(String spec, int tokens) {
    KvCache cache = engine.newCache(CacheSpec.parse(spec), Optional.empty(), MAX_TOKENS);
    append(cache, 0, tokens);
    return cache;
  }

  /** Appends prose until the cache has some tokens, from an offset of the prose on. */
  private static void append(KvCache cache, int offset, int end) {
    while (cache.length() < end) {
      int from = offset + cache.length();
      int count = Math.min(256, end - cache.length());
      BundledModel.logits(engine, cache, Arrays.copyOfRange(prose, from, from + count));
    }
  }

  /** Stored parts, copied so that they outlive the sequence. */
  private record Copied(int length, List<byte[]> parts, int[] ends, byte[] residual)
      implements CacheSnapshot {
    static Copied of(KvCache cache) {
      CacheSnapshot snapshot = cache.snapshot();
      List<byte[]> parts = new ArrayList<>();
      for (int i = 0; i < snapshot.blocks(); i++) {
        parts.add(snapshot.block(i));
      }
      int[] ends = IntStream.range(0, snapshot.blocks()).map(snapshot::end).toArray();
      return new Copied(snapshot.length(), parts, ends, snapshot.residual());
    }

    @Override
    public int blocks() {
      return parts.size();
    }

    @Override
    public int end(int index) {
      return ends[index];
    }

    @Override
    public byte[] block(int index) {
      return parts.get(index);
    }

    Copied withParts(List<byte[]> others) {
      return new Copied(length, others, ends, residual);
    }

    void requireSame(Copied other) {
      assertThat(other.length).isEqualTo(length);
      assertThat(other.ends).isEqualTo(ends);
      assertThat(other.residual).isEqualTo(residual);
      for (int i = 0; i < parts.size(); i++) {
        assertThat(other.parts.get(i)).as("block %d", i).isEqualTo(parts.get(i));
      }
    }
  }

  private static KvCache restored(String spec, CacheSnapshot snapshot) {
    return engine.restoreCache(CacheSpec.parse(spec), Optional.empty(), MAX_TOKENS, snapshot);
  }

  private static Copied stored(String spec, int tokens) {
    try (KvCache cache = cache(spec, tokens)) {
      return Copied.of(cache);
    }
  }

  /** Continues both with generated tokens, a prompt and further tokens. */
  private static void requireSameContinuation(KvCache wanted, KvCache found) {
    requireSameTokens(wanted, found, 3);
    int[] prompt = Arrays.copyOfRange(prose, wanted.length(), wanted.length() + 200);
    assertThat(BundledModel.logits(engine, found, prompt))
        .isEqualTo(BundledModel.logits(engine, wanted, prompt));
    requireSameTokens(wanted, found, 2);
    assertThat(found.bytes()).isEqualTo(wanted.bytes());
    assertThat(found.runs()).isEqualTo(wanted.runs());
    Copied.of(wanted).requireSame(Copied.of(found));
  }

  private static void requireSameTokens(KvCache wanted, KvCache found, int count) {
    for (int i = 0; i < count; i++) {
      int token = prose[wanted.length()];
      assertThat(BundledModel.logits(engine, found, token))
          .as("token %d", wanted.length())
          .isEqualTo(BundledModel.logits(engine, wanted, token));
    }
  }

  static Stream<Arguments> sequences() {
    return Stream.of(
            "fp16",
            "kivi:2",
            "kivi:4",
            "kivi:2,sinks=16",
            "kivi:4,sinks=65",
            "kivi:4,group=32,window=0",
            "kivi:2,window=64,sinks=64",
            "kivi:3,v=1,sinks=16")
        .flatMap(
            spec ->
                IntStream.of(1, 63, 64, 65, 128, 129, 300, 700)
                    .mapToObj(length -> Arguments.of(spec, length)));
  }

  @ParameterizedTest
  @MethodSource("sequences")
  void restoredSequencesContinueWithTheSameBits(String spec, int length) {
    try (KvCache cache = cache(spec, length)) {
      Copied stored = Copied.of(cache);
      try (KvCache restored = restored(spec, stored)) {
        assertThat(restored.length()).isEqualTo(length);
        assertThat(restored.bytes()).isEqualTo(cache.bytes());
        assertThat(restored.runs()).isEqualTo(cache.runs());
        Copied.of(restored).requireSame(stored);
        requireSameContinuation(cache, restored);
      }
    }
  }

  @Test
  void anEmptySequenceIsStored() {
    try (KvCache cache = cache("kivi:2,sinks=16", 0);
        KvCache restored = restored("kivi:2,sinks=16", Copied.of(cache))) {
      assertThat(restored.length()).isZero();
      requireSameContinuation(cache, restored);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2", "kivi:4,sinks=16"})
  void restoredSequencesAreForked(String spec) {
    try (KvCache cache = cache(spec, 300);
        KvCache restored = restored(spec, Copied.of(cache));
        KvCache fork = restored.fork()) {
      BundledModel.logits(engine, restored, prose[5]);
      requireSameContinuation(cache, fork);
    }
  }

  static Stream<Arguments> cuts() {
    return Stream.of("fp16", "kivi:2", "kivi:4,sinks=16")
        .flatMap(
            spec ->
                IntStream.of(0, 5, 200, 272, 301, 650, 700)
                    .mapToObj(length -> Arguments.of(spec, length)));
  }

  @ParameterizedTest
  @MethodSource("cuts")
  void restoredSequencesAreTruncated(String spec, int length) {
    try (KvCache cache = cache(spec, 700);
        KvCache restored = restored(spec, Copied.of(cache))) {
      cache.truncate(length);
      restored.truncate(length);
      assertThat(restored.length()).isEqualTo(cache.length()).isEqualTo(length);
      requireSameContinuation(cache, restored);
    }
  }

  /** A fork that has not been continued shares its last page with one that has. */
  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2", "kivi:4,sinks=16"})
  void forksAreStored(String spec) {
    try (KvCache source = cache(spec, 300);
        KvCache fork = source.fork()) {
      append(source, 500, 420);
      Copied stored = Copied.of(fork);
      try (KvCache restored = restored(spec, stored);
          KvCache alone = cache(spec, 300)) {
        Copied.of(alone).requireSame(stored);
        requireSameContinuation(fork, restored);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2", "kivi:4,sinks=16"})
  void blocksDoNotChangeWhileASequenceGrows(String spec) {
    try (KvCache cache = cache(spec, 512)) {
      assertThat(cache.snapshot().hasImmutableBlocks()).isTrue();
      Copied before = Copied.of(cache);
      assertThat(before.blocks()).isPositive();
      append(cache, 0, 900);
      Copied after = Copied.of(cache);
      assertThat(after.blocks()).isGreaterThan(before.blocks());
      for (int i = 0; i < before.blocks(); i++) {
        assertThat(after.block(i)).as("block %d", i).isEqualTo(before.block(i));
        assertThat(after.end(i)).isEqualTo(before.end(i));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2,sinks=16"})
  void aDamagedBlockLeavesNoPages(String spec) {
    Copied stored = stored(spec, 700);
    byte[] last = stored.parts().getLast();
    last[last.length / 2] ^= 1;
    assertThatThrownBy(() -> restored(spec, stored))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("a stored block is damaged: its checksum is ");
    assertThat(engine.memory().usedBytes()).isZero();
  }

  @Test
  void partsThatDoNotBelongTogetherLeaveNoPages() {
    Copied stored = stored("kivi:2", 700);
    List<byte[]> swapped = new ArrayList<>(stored.parts());
    swapped.set(0, stored.parts().get(1));
    assertThatThrownBy(() -> restored("kivi:2", stored.withParts(swapped)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("a stored block begins at position 128; expected 0");
    List<byte[]> fewer = stored.parts().subList(0, 2);
    assertThatThrownBy(() -> restored("kivi:2", stored.withParts(fewer)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageMatching(
            "the rest of a stored cache has \\d whole blocks and 700 positions; 2 and 700 are"
                + " there");
    for (String other : List.of("kivi:4", "kivi:1,k=3", "fp16", "kivi:2,sinks=16")) {
      assertThatThrownBy(() -> restored(other, stored)).isInstanceOf(InvalidInputException.class);
    }
    assertThat(engine.memory().usedBytes()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2,sinks=16"})
  void tooLittleMemoryLeavesNoPages(String spec) {
    Copied stored;
    long bytes;
    try (KvCache cache = cache(spec, 700)) {
      stored = Copied.of(cache);
      bytes = engine.memory().usedBytes();
    }
    CacheSpec parsed = CacheSpec.parse(spec);
    for (long limit : new long[] {bytes / 8, bytes / 2, bytes - 1}) {
      try (CudaEngine small = BundledModel.device(CacheSpec.DEFAULT, limit)) {
        assertThatThrownBy(() -> small.restoreCache(parsed, Optional.empty(), MAX_TOKENS, stored))
            .isInstanceOf(CacheFullException.class)
            .hasMessageStartingWith("a stored sequence of 700 tokens cannot be held: ");
        assertThat(small.memory().usedBytes()).isZero();
      }
    }
    try (CudaEngine enough = BundledModel.device(CacheSpec.DEFAULT, bytes);
        KvCache restored = enough.restoreCache(parsed, Optional.empty(), MAX_TOKENS, stored)) {
      assertThat(restored.length()).isEqualTo(700);
      assertThat(enough.memory().usedBytes()).isEqualTo(bytes);
    }
  }

  @Test
  void storedBytesDependOnTheSequenceAlone() {
    Copied fresh = stored("kivi:2,sinks=16", 70);
    try (KvCache other = engine.newCache(CacheSpec.parse("fp16"), Optional.empty(), MAX_TOKENS)) {
      append(other, 700, 900);
    }
    fresh.requireSame(stored("kivi:2,sinks=16", 70));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "patternkv:2,rope=static",
        "pmkvq:2,budget=3MiB,widths=same",
        "mixkvq,high=4.208,mid=2.238"
      })
  void cachesWithTablesAreRefused(String spec) {
    try (KvCache cache = cache(spec, 1)) {
      assertThatThrownBy(cache::snapshot)
          .isInstanceOf(DeviceException.class)
          .hasMessageEndingWith(
              "cannot be stored from a GPU; expected fp16, kivi or kvtuner, or --device cpu");
    }
    Copied stored = stored("fp16", 1);
    assertThatThrownBy(() -> restored(spec, stored))
        .isInstanceOf(DeviceException.class)
        .hasMessageEndingWith("expected fp16, kivi or kvtuner, or --device cpu");
  }

  @Test
  void aClosedEngineStoresNothing() {
    CudaEngine other = BundledModel.device(CacheSpec.DEFAULT);
    KvCache cache = other.newCache(CacheSpec.DEFAULT, Optional.empty(), MAX_TOKENS);
    BundledModel.logits(other, cache, Arrays.copyOf(prose, 200));
    Copied stored = Copied.of(cache);
    CacheSnapshot snapshot = cache.snapshot();
    other.close();
    assertThatThrownBy(() -> snapshot.block(0)).hasMessage("this model is closed");
    assertThatThrownBy(
            () -> other.restoreCache(CacheSpec.DEFAULT, Optional.empty(), MAX_TOKENS, stored))
        .hasMessage("this model is closed");
    cache.close();
    assertThat(other.bytes()).isZero();
  }
}
