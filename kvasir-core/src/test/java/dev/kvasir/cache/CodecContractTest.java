package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.codec.CacheHost;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Method;
import dev.kvasir.codec.Methods;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.commvq.MadeUpCodebooks;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What every kind of cache promises, whatever it does to the bits. */
class CodecContractTest {
  private static final long SEED = 23;
  private static final CacheShape SHAPE = new CacheShape(2, 2, 20);
  private static final ModelTables TABLES = new ModelTables();
  private static final CacheHost HOST =
      CacheHost.unknown()
          .withTables(Optional.of(TABLES))
          .withQueryHeads(SHAPE.kvHeads())
          .withRotation(Optional.of(new Rope(RopeLayout.HALVES, RopeFrequencies.plain(10_000, 16))))
          .withProfile(Optional.of(MadeUpCodebooks.profile(SHAPE, 1, 2)));
  private static final int VECTOR = SHAPE.kvHeads() * SHAPE.headDim();

  private final Kernels kernels = new ScalarKernels();
  private long bytesBefore;
  private long arenasBefore;

  static Stream<String> specs() {
    return Stream.of(
        "fp32",
        "fp16",
        "bf16",
        "kivi:8",
        "kivi:4",
        "kivi:3,group=64",
        "kivi:2",
        "kivi:2,group=32,window=0",
        "kivi:1,sinks=5",
        "kivi:2,k=4,v=1,window=40,sinks=16",
        "kivi:4,window=300,sinks=130",
        "kivi:2,sinks=256,lookup=fast",
        "patternkv:2",
        "patternkv:4,sinks=5,window=40",
        "patternkv:2,rope=static",
        "patternkv:4,rope=static,window=0",
        "patternkv:2,rope=static,patterns=4,sinks=5",
        "patternkv:3,rope=static,k=4,v=2,group=32,patterns=255,window=40",
        "patternkv:2,rope=static,new-patterns=off,v-threshold=off",
        "patternkv:2,k-patterns=off",
        "patternkv:2,rope=static,v-patterns=off,window=300,sinks=130",
        "patternkv:1,k-patterns=off,v-patterns=off",
        "mixkvq,high=2.8,mid=2",
        "mixkvq,high=3.2,mid=2.6,queries=sequence,sinks=0,window=0",
        "mixkvq,high=2.6,mid=3,group=64,window=40,lookup=fast",
        "mixkvq,high=2.8,mid=2,residual=256,sinks=5",
        "mixkvq,high=1.9,mid=1.7,salience=error,group=128",
        "mixkvq,high=1.9,mid=1.7,salience=error,residual=384,sinks=130",
        "mixkvq,high=1000,mid=1000",
        "mixkvq,high=0.0001,mid=0.0001",
        "pmkvq:2,budget=1MiB,keys=token", // all 16 bits
        "pmkvq:2,budget=260KiB,keys=token,shrink=layer",
        "pmkvq:2,budget=200KiB,shift=direct,keys=token,shrink=layer",
        "pmkvq:2,budget=200KiB,shift=modified,window=40,sinks=16",
        "pmkvq:4,budget=240KiB,window=0,sinks=0",
        "pmkvq:8,budget=360KiB,sinks=130",
        "pmkvq:2,budget=1MiB",
        "pmkvq:2,budget=220KiB,shrink=layer",
        "pmkvq:2,budget=260KiB,keys=token",
        "pmkvq:2,budget=260KiB",
        "commvq:1",
        "commvq:2,window=0,beam=1",
        "commvq:2,window=40,sinks=130",
        "toy",
        "toy,window=0,sinks=5");
  }

  /** Without those that pack keys as they were before rotation, when they were no constants. */
  static Stream<String> specsThatKeepConstants() {
    return specs()
        .filter(spec -> !spec.startsWith("commvq"))
        .filter(
            spec ->
                !spec.startsWith("patternkv")
                    || spec.contains("rope=static")
                    || spec.contains("k-patterns=off"));
  }

  /**
   * Without those that learn from the first tokens that are packed or from the queries of a step,
   * however many there are, and those that shrink: the tokens of a long step need room at once.
   */
  static Stream<String> specsThatLearnNothing() {
    return specs()
        .filter(spec -> !spec.startsWith("patternkv"))
        .filter(spec -> !spec.startsWith("mixkvq") || spec.contains("salience=error"))
        .filter(spec -> !spec.startsWith("pmkvq") || spec.contains("1MiB"));
  }

  /** What sequences share is made with the first of them, and no test's own. */
  @BeforeAll
  static void makeTables() {
    open("commvq:1").close();
    open("commvq:2").close();
  }

  @AfterAll
  static void closeTables() {
    TABLES.close();
  }

  @BeforeEach
  void count() {
    bytesBefore = CountedArena.liveBytes();
    arenasBefore = CountedArena.liveArenas();
  }

  @AfterEach
  void closingFreesEverything() {
    assertThat(CountedArena.liveBytes()).isEqualTo(bytesBefore);
    assertThat(CountedArena.liveArenas()).isEqualTo(arenasBefore);
  }

  @ParameterizedTest
  @MethodSource("specs")
  void bytesAreForetoldAndAllocated(String spec) {
    try (KvCache cache = open(spec)) {
      Random random = new Random(SEED);
      for (int length = 1; length <= 600; length++) {
        append(cache, 1, random);
        CacheBytes bytes = cache.bytes();
        assertThat(bytes.total()).isEqualTo(CountedArena.liveBytes() - bytesBefore);
        assertForetold(spec, length, bytes);
      }
    }
  }

  /** Codes that depend on the vectors are foretold as what they cannot exceed. */
  private static void assertForetold(String spec, int length, CacheBytes bytes) {
    CacheBytes foretold = CacheSpec.parse(spec).bytesFor(SHAPE, HOST, length);
    if (CacheSpec.parse(spec).sizes(SHAPE, HOST) == PageCodec.Sizes.EXACT) {
      assertThat(bytes).as("%s at length %d", spec, length).isEqualTo(foretold);
      return;
    }
    assertThat(bytes.codes()).isLessThanOrEqualTo(foretold.codes());
    assertThat(bytes.codes() + bytes.scales())
        .as("%s at length %d", spec, length)
        .isLessThanOrEqualTo(foretold.codes() + foretold.scales());
    assertThat(new CacheBytes(0, 0, bytes.window(), bytes.sinks(), bytes.tables()))
        .as("%s at length %d", spec, length)
        .isEqualTo(new CacheBytes(0, 0, foretold.window(), foretold.sinks(), foretold.tables()));
  }

  /** However the tokens come, the same ones are packed and into the same bits. */
  @ParameterizedTest
  @MethodSource("specsThatLearnNothing")
  void stepsOfAnySizeLeaveTheSameCache(String spec) {
    try (KvCache oneByOne = open(spec);
        KvCache inSteps = open(spec)) {
      append(oneByOne, 700, new Random(SEED), 1);
      append(inSteps, 700, new Random(SEED), 256);
      assertThat(inSteps.bytes()).isEqualTo(oneByOne.bytes());
      assertSame(inSteps, oneByOne, 700);
    }
  }

  @ParameterizedTest
  @MethodSource("specsThatKeepConstants")
  void constantVectorsComeBackAsTheyAre(String spec) {
    try (KvCache cache = open(spec)) {
      cache.reserve(400);
      float[] vector = new float[VECTOR];
      java.util.Arrays.fill(vector, -1.25f);
      for (int position = 0; position < 400; position++) {
        for (int layer = 0; layer < SHAPE.layers(); layer++) {
          cache.append(layer, position, vector, 0, vector, 0);
        }
      }
      cache.advance(400);
      for (float value : keys(cache, 1, 1, 400)) {
        assertThat(value).isEqualTo(-1.25f);
      }
    }
  }

  @Test
  void everyRegisteredMethodIsHeldToIt() {
    List<Method> held = specs().map(spec -> CacheSpec.parse(spec).method()).distinct().toList();
    assertThat(held).containsExactlyInAnyOrderElementsOf(Methods.all());
  }

  /** Both hold what they would hold had there been no other. */
  @ParameterizedTest
  @MethodSource("specs")
  void forksShareThePastAndPartAfterIt(String spec) {
    try (KvCache parent = open(spec);
        KvCache parentAlone = open(spec);
        KvCache forkAlone = open(spec)) {
      for (KvCache cache : List.of(parent, parentAlone, forkAlone)) {
        append(cache, 500, new Random(SEED), 100);
      }
      long held = CountedArena.liveBytes();
      try (KvCache fork = parent.fork()) {
        assertThat(CountedArena.liveBytes()).as("nothing is copied").isEqualTo(held);
        assertSame(fork, parent, 500);
        growAsFork(fork);
        growAsFork(forkAlone);
        assertSame(parent, parentAlone, 500);
        append(parent, 150, new Random(SEED + 2), 150);
        append(parentAlone, 150, new Random(SEED + 2), 150);
        assertSame(fork, forkAlone, 700);
        assertSameBytes(fork.bytes(), forkAlone.bytes());
        for (KvCache cache : List.of(fork, forkAlone)) {
          cache.truncate(300);
          append(cache, 10, new Random(SEED + 3), 1);
        }
        assertSame(fork, forkAlone, 310);
        assertSame(parent, parentAlone, 650);
      }
      parent.truncate(500);
      parentAlone.truncate(500);
      assertSame(parent, parentAlone, 500);
      assertSameBytes(parent.bytes(), parentAlone.bytes());
    }
  }

  /** But for tables: of two that grow from one, the second takes room of its own. */
  private static void assertSameBytes(CacheBytes found, CacheBytes alone) {
    assertThat(found.total() - found.tables()).isEqualTo(alone.total() - alone.tables());
    assertThat(found.tables()).isGreaterThanOrEqualTo(alone.tables());
  }

  private static void growAsFork(KvCache cache) {
    append(cache, 200, new Random(SEED + 1), 7);
    assertThat(cache.length()).isEqualTo(700);
  }

  @ParameterizedTest
  @MethodSource("specs")
  void truncationKeepsWhatAttentionSaw(String spec) {
    for (int kept : new int[] {699, 600, 513, 512, 400, 257, 256, 128, 129, 17, 5, 1, 0}) {
      try (KvCache cache = open(spec)) {
        append(cache, 700, new Random(SEED), 100);
        float[] before = keys(cache, 1, 0, kept);
        cache.truncate(kept);
        assertThat(cache.length()).isEqualTo(kept);
        assertThat(cache.bytes().total()).isEqualTo(CountedArena.liveBytes() - bytesBefore);
        float[] after = keys(cache, 1, 0, kept);
        for (int i = 0; i < before.length; i++) {
          // What was packed is kept in half precision once its page is cut.
          assertThat(after[i]).isCloseTo(before[i], within(1e-3f * Math.abs(before[i]) + 1e-6f));
        }
        append(cache, 300, new Random(SEED + 1), 50);
        assertThat(cache.length()).isEqualTo(kept + 300);
      }
    }
  }

  @ParameterizedTest
  @MethodSource("specs")
  void numbersThatAreNotFiniteAreRefusedByName(String spec) {
    try (KvCache cache = open(spec)) {
      append(cache, 3, new Random(SEED), 1);
      cache.reserve(4);
      for (float bad : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
        float[] vector = new float[VECTOR];
        vector[SHAPE.headDim() + 3] = bad;
        assertThatThrownBy(() -> cache.append(1, 3, new float[VECTOR], 0, vector, 0))
            .isInstanceOf(InvalidInputException.class)
            .hasMessageContaining("value of layer 1, head 1, position 3")
            .hasMessageContaining(Float.toString(bad));
      }
    }
  }

  private static KvCache open(String spec) {
    return CacheSpec.parse(spec).newCache(SHAPE, HOST);
  }

  private static void append(KvCache cache, int tokens, Random random) {
    append(cache, tokens, random, 1);
  }

  /** Appends random vectors, the same ones whatever the size of a step. */
  private static void append(KvCache cache, int tokens, Random random, int step) {
    for (int done = 0; done < tokens; done += step) {
      int count = Math.min(step, tokens - done);
      int first = cache.length();
      cache.reserve(first + count);
      for (int i = 0; i < count; i++) {
        for (int layer = 0; layer < SHAPE.layers(); layer++) {
          cache.append(layer, first + i, vector(random), 0, vector(random), 0);
          if (cache.seesQueries()) {
            cache.see(layer, first + i, vector(random), 0);
          }
        }
      }
      cache.advance(count);
    }
  }

  private static float[] vector(Random random) {
    float[] vector = new float[VECTOR];
    for (int i = 0; i < vector.length; i++) {
      vector[i] = (float) random.nextGaussian() + i % 3;
    }
    return vector;
  }

  /** Keys and values of all layers and heads, bit by bit. */
  private void assertSame(KvCache a, KvCache b, int tokens) {
    for (int layer = 0; layer < SHAPE.layers(); layer++) {
      for (int head = 0; head < SHAPE.kvHeads(); head++) {
        assertThat(keys(a, layer, head, tokens)).isEqualTo(keys(b, layer, head, tokens));
        assertThat(values(a, layer, head, tokens)).isEqualTo(values(b, layer, head, tokens));
      }
    }
  }

  /** (tokens, headDim). */
  private float[] keys(KvCache cache, int layer, int head, int tokens) {
    return vectors(
        cache,
        tokens,
        (block, count, out) -> cache.expandKeys(kernels, layer, head, block, count, out));
  }

  /** (tokens, headDim). */
  private float[] values(KvCache cache, int layer, int head, int tokens) {
    return vectors(
        cache,
        tokens,
        (block, count, out) -> cache.expandValues(kernels, layer, head, block, count, out));
  }

  private interface Expansion {
    void expand(int block, int tokens, float[] out);
  }

  private static float[] vectors(KvCache cache, int tokens, Expansion expansion) {
    float[] all = new float[tokens * SHAPE.headDim()];
    float[] block = new float[KvCache.TOKENS_PER_PAGE * 3 * SHAPE.headDim()];
    for (int b = 0; cache.firstPosition(b) < tokens; b++) {
      int first = cache.firstPosition(b);
      int count = Math.min(cache.firstPosition(b + 1), tokens) - first;
      expansion.expand(b, count, block);
      System.arraycopy(block, 0, all, first * SHAPE.headDim(), count * SHAPE.headDim());
    }
    return all;
  }
}
