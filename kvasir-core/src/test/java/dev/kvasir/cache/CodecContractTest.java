package dev.kvasir.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.kvasir.codec.CacheContext;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.MethodRegistry;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.ValueOrigin;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.CountedArena;
import dev.kvasir.model.Rope;
import dev.kvasir.model.RopeFrequencies;
import dev.kvasir.model.RopeLayout;
import dev.kvasir.spi.QuantizationMethod;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The contract of every cache, whatever its quantization. */
@Tag("contract")
class CodecContractTest {
  private static final long SEED = 23;
  private static final String KINDS = "dev.kvasir.cache.ContractSpecs#";
  private static final int LONGEST = 1200;
  private static final Map<CacheShape, CacheContext> CONTEXTS = new HashMap<>();

  private final Kernels kernels = KernelChoice.ofThisProcess().kernels();
  private long bytesBefore;
  private long arenasBefore;

  /** Shared tables are created with the first sequence and belong to no test. */
  @BeforeAll
  static void makeTables() {
    ContractSpecs.kinds().forEach(kind -> context(kind.shape()));
    Stream.concat(ContractSpecs.kinds(), ContractSpecs.kindsThatStayMapped())
        .forEach(kind -> open(kind).close());
  }

  @AfterAll
  static void closeTables() {
    CONTEXTS.values().forEach(context -> context.tables().orElseThrow().close());
    CONTEXTS.clear();
  }

  private static CacheContext context(CacheShape shape) {
    return CONTEXTS.computeIfAbsent(
        shape,
        any ->
            CacheContext.unknown()
                .withTables(Optional.of(new ModelTables()))
                .withQueryHeads(shape.kvHeads())
                .withRotation(
                    Optional.of(new Rope(RopeLayout.HALVES, RopeFrequencies.unscaled(10_000, 16))))
                .withProfile(Optional.of(ContractSpecs.profile(shape)))
                .withContextLimit(LONGEST));
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
  @MethodSource(KINDS + "kinds")
  void allocatedBytesMatchTheEstimate(ShapedSpec kind) {
    try (KvCache cache = open(kind)) {
      SplittableRandom random = new SplittableRandom(SEED);
      CacheSpec spec = CacheSpec.parse(kind.spec());
      int longest = ContractSpecs.isOfAnotherShape(kind) ? 300 : 600;
      for (int length = 1; length <= longest; length++) {
        append(kind, cache, 1, random);
        CacheBytes bytes = cache.bytes();
        if (bytes.total() != CountedArena.liveBytes() - bytesBefore) {
          fail("%s counts %s of %d bytes", kind, bytes, CountedArena.liveBytes() - bytesBefore);
        }
        assertEstimated(kind, spec, length, bytes);
      }
    }
  }

  /** Codes that depend on the vectors are estimated by their upper bound. */
  private static void assertEstimated(
      ShapedSpec kind, CacheSpec spec, int length, CacheBytes bytes) {
    CacheContext context = context(kind.shape());
    CacheBytes estimate = spec.bytesFor(kind.shape(), context, length);
    if (spec.sizes(kind.shape(), context) == PageCodec.SizeAccuracy.EXACT) {
      assertThat(bytes).as("%s at length %d", kind, length).isEqualTo(estimate);
      return;
    }
    assertThat(bytes.codes()).isLessThanOrEqualTo(estimate.codes());
    assertThat(bytes.codes() + bytes.scales())
        .as("%s at length %d", kind, length)
        .isLessThanOrEqualTo(estimate.codes() + estimate.scales());
    assertThat(new CacheBytes(0, 0, bytes.window(), bytes.sinks(), bytes.tables()))
        .as("%s at length %d", kind, length)
        .isEqualTo(new CacheBytes(0, 0, estimate.window(), estimate.sinks(), estimate.tables()));
  }

  /** The chunking of tokens changes neither what is quantized nor its bits. */
  @ParameterizedTest
  @MethodSource(KINDS + "kindsThatLearnNothing")
  void stepsOfAnySizeLeaveTheSameCache(ShapedSpec kind) {
    try (KvCache oneByOne = open(kind);
        KvCache inSteps = open(kind)) {
      append(kind, oneByOne, 700, new SplittableRandom(SEED), 1);
      append(kind, inSteps, 700, new SplittableRandom(SEED), 256);
      assertThat(inSteps.bytes()).isEqualTo(oneByOne.bytes());
      assertSame(kind, inSteps, oneByOne, 700);
    }
  }

  @ParameterizedTest
  @MethodSource(KINDS + "kindsThatKeepConstants")
  void constantVectorsComeBackAsTheyAre(ShapedSpec kind) {
    try (KvCache cache = open(kind)) {
      cache.reserve(400);
      float[] vector = new float[Math.max(kind.keyVector(), kind.valueVector())];
      Arrays.fill(vector, -1.25f);
      for (int position = 0; position < 400; position++) {
        for (int layer = 0; layer < kind.shape().layers(); layer++) {
          cache.append(layer, position, vector, 0, vector, 0);
        }
      }
      cache.advance(400);
      int last = kind.shape().layers() - 1;
      int head = kind.shape().kvHeads() - 1;
      assertThat(keys(kind, cache, last, head, 400)).containsOnly(-1.25f);
      assertThat(values(kind, cache, last, head, 400)).containsOnly(-1.25f);
    }
  }

  /** The given values are ignored. */
  @ParameterizedTest
  @MethodSource(KINDS + "latentKinds")
  void valuesInKeysAreTheFirstOfTheirChannels(ShapedSpec kind) {
    int keyDim = kind.shape().keyDim();
    int valueDim = kind.shape().valueDim();
    try (KvCache cache = open(kind)) {
      append(kind, cache, 400, new SplittableRandom(SEED), 100);
      for (int head = 0; head < kind.shape().kvHeads(); head++) {
        float[] keys = keys(kind, cache, 0, head, 400);
        float[] values = values(kind, cache, 0, head, 400);
        for (int token = 0; token < 400; token++) {
          float[] key = Arrays.copyOfRange(keys, token * keyDim, token * keyDim + valueDim);
          int at = token * valueDim;
          assertThat(Arrays.copyOfRange(values, at, at + valueDim)).isEqualTo(key);
        }
      }
    }
  }

  /** They take as much as the keys of a cache that stores values. */
  @ParameterizedTest
  @MethodSource(KINDS + "latentKinds")
  void valuesInKeysTakeNothing(ShapedSpec kind) {
    CacheShape shape = kind.shape();
    CacheSpec spec = CacheSpec.parse(kind.spec());
    CacheShape keysTwice =
        new CacheShape(shape.layers(), shape.kvHeads(), shape.keyDim(), shape.keyDim());
    CacheSpec stored = CacheSpec.parse(kind.spec().replace(",rotary=16", ""));
    CacheBytes bytes = spec.bytesFor(shape, context(shape), 127);
    CacheBytes twice = stored.bytesFor(keysTwice, context(shape), 127);
    assertThat(2 * (bytes.window() + bytes.sinks())).isEqualTo(twice.window() + twice.sinks());
    assertThat(shape.valuesPerToken()).isEqualTo(keysTwice.valuesPerToken() / 2);
  }

  @ParameterizedTest
  @MethodSource(KINDS + "quickSpecs")
  void methodsThatMustStoreValuesRefuseThoseInKeys(String typed) {
    CacheSpec spec = CacheSpec.parse(typed);
    CacheShape latent = new CacheShape(1, 1, 576, 512, ValueOrigin.IN_KEYS);
    if (spec.config().supportsValuesInKeys()) {
      spec.newCache(latent, context(latent)).close();
      return;
    }
    String sentence =
        "the cache '%s' stores values beside keys; here they are the first 512 of their 576"
            + " channels";
    assertThatThrownBy(() -> spec.newCache(latent, context(latent)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(sentence.formatted(typed));
    assertThatThrownBy(() -> spec.bytesFor(latent, 1000)).hasMessage(sentence.formatted(typed));
  }

  @Test
  void valuesInKeysAreNoWiderThanKeys() {
    assertThatThrownBy(() -> new CacheShape(1, 1, 64, 65, ValueOrigin.IN_KEYS))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("values of 65 channels in keys of 64; expected at most as many");
  }

  @Test
  void everyRegisteredMethodIsCovered() {
    for (Stream<String> specs :
        List.of(ContractSpecs.specs(), ContractSpecs.fewSpecs(), ContractSpecs.quickSpecs())) {
      List<QuantizationMethod> covered =
          specs.map(spec -> CacheSpec.parse(spec).method()).distinct().toList();
      assertThat(covered).containsExactlyInAnyOrderElementsOf(MethodRegistry.all());
    }
  }

  /** Both hold what they would hold without the other. */
  @ParameterizedTest
  @MethodSource(KINDS + "kindsThatQuantizeQuickly")
  void forksShareThePastAndDiverge(ShapedSpec kind) {
    try (KvCache parent = open(kind);
        KvCache parentAlone = open(kind);
        KvCache forkAlone = open(kind)) {
      for (KvCache cache : List.of(parent, parentAlone, forkAlone)) {
        append(kind, cache, 500, new SplittableRandom(SEED), 100);
      }
      long bytesBeforeFork = CountedArena.liveBytes();
      try (KvCache fork = parent.fork()) {
        assertThat(CountedArena.liveBytes()).as("nothing is copied").isEqualTo(bytesBeforeFork);
        assertSame(kind, fork, parent, 500);
        growAsFork(kind, fork);
        growAsFork(kind, forkAlone);
        assertSame(kind, parent, parentAlone, 500);
        append(kind, parent, 150, new SplittableRandom(SEED + 2), 150);
        append(kind, parentAlone, 150, new SplittableRandom(SEED + 2), 150);
        assertSame(kind, fork, forkAlone, 700);
        assertSameBytes(fork.bytes(), forkAlone.bytes());
        for (KvCache cache : List.of(fork, forkAlone)) {
          cache.truncate(300);
          append(kind, cache, 10, new SplittableRandom(SEED + 3), 1);
        }
        assertThat(fork.length()).isEqualTo(forkAlone.length());
        assertSame(kind, fork, forkAlone, fork.length());
        assertSame(kind, parent, parentAlone, 650);
      }
      parent.truncate(500);
      parentAlone.truncate(500);
      assertThat(parent.length()).isEqualTo(parentAlone.length());
      assertSame(kind, parent, parentAlone, parent.length());
      assertSameBytes(parent.bytes(), parentAlone.bytes());
    }
  }

  /** Ignores tables: the second of two forks allocates its own. */
  private static void assertSameBytes(CacheBytes found, CacheBytes alone) {
    assertThat(found.total() - found.tables()).isEqualTo(alone.total() - alone.tables());
    assertThat(found.tables()).isGreaterThanOrEqualTo(alone.tables());
  }

  private static void growAsFork(ShapedSpec kind, KvCache cache) {
    append(kind, cache, 200, new SplittableRandom(SEED + 1), 7);
    assertThat(cache.length()).isEqualTo(700);
  }

  @ParameterizedTest
  @MethodSource(KINDS + "kindsThatQuantizeQuickly")
  void truncationKeepsTheValuesThatAttentionUsed(ShapedSpec kind) {
    try (KvCache cache = open(kind)) {
      append(kind, cache, 700, new SplittableRandom(SEED), 100);
      int last = kind.shape().layers() - 1;
      for (int retained : lengths(kind)) {
        if (cache.retainable(retained) < retained) {
          continue; // layers have evicted what would be read
        }
        float[] keys = keys(kind, cache, last, 0, retained);
        float[] values = values(kind, cache, last, 0, retained);
        cache.truncate(retained);
        assertThat(cache.length()).isEqualTo(retained);
        assertThat(cache.bytes().total()).isEqualTo(CountedArena.liveBytes() - bytesBefore);
        assertClose(keys(kind, cache, last, 0, retained), keys);
        assertClose(values(kind, cache, last, 0, retained), values);
        int more = retained % 100 == 0 ? 300 : 1; // once that more pages are quantized
        try (KvCache fork = cache.fork()) {
          append(kind, fork, more, new SplittableRandom(SEED + 1), 50);
          assertThat(fork.length()).isEqualTo(retained + more);
        }
      }
    }
  }

  /**
   * Returns lengths around block boundaries, longest first. Large heads and code searches take
   * long, and methods do not affect how a block is cut, so those get only a few.
   */
  private static int[] lengths(ShapedSpec kind) {
    return kind.shape().keyDim() > 36 || kind.spec().startsWith("commvq")
        ? new int[] {600, 257, 5}
        : new int[] {699, 600, 513, 512, 400, 257, 256, 129, 128, 17, 5, 1, 0};
  }

  /** A truncated page is retained in half precision. A million assertions would take long. */
  private static void assertClose(float[] after, float[] before) {
    for (int i = 0; i < before.length; i++) {
      if (!(Math.abs(after[i] - before[i]) <= 1e-3f * Math.abs(before[i]) + 1e-6f)) {
        fail("number %d was %s and is %s", i, before[i], after[i]);
      }
    }
  }

  @ParameterizedTest
  @MethodSource(KINDS + "kindsThatStoreValues")
  void numbersThatAreNotFiniteAreRefusedByName(ShapedSpec kind) {
    try (KvCache cache = open(kind)) {
      append(kind, cache, 3, new SplittableRandom(SEED), 1);
      cache.reserve(4);
      int last = kind.shape().layers() - 1;
      int head = kind.shape().kvHeads() - 1;
      for (float bad : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
        float[] keys = new float[kind.keyVector()];
        float[] vector = new float[kind.valueVector()];
        vector[head * kind.shape().valueDim() + 3] = bad;
        assertThatThrownBy(() -> cache.append(last, 3, keys, 0, vector, 0))
            .isInstanceOf(InvalidInputException.class)
            .hasMessageContaining("value of layer %d, head %d, position 3".formatted(last, head))
            .hasMessageContaining(Float.toString(bad));
      }
    }
  }

  /**
   * The original continues first, since the restored caches must not depend on it. One of those has
   * copies of its blocks, the other reads them in place.
   */
  @ParameterizedTest
  @MethodSource(KINDS + "storedKinds")
  void aRestoredCacheContinuesBitIdentically(ShapedSpec kind) {
    try (KvCache cache = open(kind)) {
      append(kind, cache, 300, new SplittableRandom(SEED), 97);
      CacheSnapshot stored = SnapshotBytes.of(cache.snapshot());
      append(kind, cache, 300, new SplittableRandom(SEED + 1), 43);
      try (MappedSnapshot mapped = new MappedSnapshot(stored);
          KvCache copied = restored(kind, stored);
          KvCache read = restored(kind, mapped)) {
        assertThat(SnapshotBytes.of(copied.snapshot())).isEqualTo(stored);
        assertThat(SnapshotBytes.of(read.snapshot())).isEqualTo(stored);
        assertThat(read.bytes()).isEqualTo(copied.bytes());
        append(kind, read, 300, new SplittableRandom(SEED + 1), 43);
        assertThat(SnapshotBytes.of(read.snapshot())).isEqualTo(SnapshotBytes.of(cache.snapshot()));
        assertThat(read.bytes()).isEqualTo(cache.bytes());
        assertSame(kind, read, cache, 600);
      }
    }
  }

  /** Copied blocks would not change with the file. */
  @ParameterizedTest
  @MethodSource(KINDS + "kindsThatStayMapped")
  void storedBlocksStayWhereTheyLie(ShapedSpec kind) {
    try (KvCache cache = open(kind)) {
      append(kind, cache, 700, new SplittableRandom(SEED), 97);
      SnapshotBytes stored = SnapshotBytes.of(cache.snapshot());
      assertThat(stored.blocks()).isPositive();
      try (MappedSnapshot mapped = new MappedSnapshot(stored);
          KvCache read = restored(kind, mapped)) {
        assertThat(SnapshotBytes.of(read.snapshot())).isEqualTo(stored);
        mapped.overwrite();
        SnapshotBytes overwritten = SnapshotBytes.of(read.snapshot());
        assertThat(overwritten.hexBlocks()).doesNotContainAnyElementsOf(stored.hexBlocks());
      }
    }
  }

  private static KvCache restored(ShapedSpec kind, CacheSnapshot snapshot) {
    return CacheSpec.parse(kind.spec()).restore(kind.shape(), context(kind.shape()), snapshot);
  }

  static KvCache open(ShapedSpec kind) {
    return CacheSpec.parse(kind.spec()).newCache(kind.shape(), context(kind.shape()));
  }

  private static void append(ShapedSpec kind, KvCache cache, int tokens, SplittableRandom random) {
    append(kind, cache, tokens, random, 1);
  }

  /** Appends random vectors, the same ones for any step size. */
  private static void append(
      ShapedSpec kind, KvCache cache, int tokens, SplittableRandom random, int step) {
    for (int done = 0; done < tokens; done += step) {
      int count = Math.min(step, tokens - done);
      int first = cache.length();
      cache.reserve(first + count);
      for (int i = 0; i < count; i++) {
        for (int layer = 0; layer < kind.shape().layers(); layer++) {
          float[] keys = vector(random, kind.keyVector());
          cache.append(layer, first + i, keys, 0, vector(random, kind.valueVector()), 0);
          if (cache.observer().observesQueries()) {
            cache.observer().observe(layer, first + i, vector(random, kind.keyVector()), 0);
          }
          if (cache.observer().attentionHorizon() > 0) {
            observeAttention(kind, cache, layer, first + i);
          }
        }
      }
      cache.advance(count);
    }
  }

  /** Reports attention that depends on positions alone; one token in fifty gets most of it. */
  private static void observeAttention(ShapedSpec kind, KvCache cache, int layer, int position) {
    int[] weights = {position % 50 == 49 ? 100_000 : 100 + position % 7};
    for (int head = 0; head < kind.shape().kvHeads(); head++) {
      cache.observer().observeAttention(layer, head, position, weights, 1);
    }
  }

  /** Millions of numbers, which would take half of a run with {@link java.util.Random}. */
  private static float[] vector(SplittableRandom random, int channels) {
    float[] vector = new float[channels];
    for (int i = 0; i < vector.length; i++) {
      vector[i] = (float) random.nextGaussian() + i % 3;
    }
    return vector;
  }

  /** Compares keys and values of all layers and heads, bit by bit. */
  private void assertSame(ShapedSpec kind, KvCache a, KvCache b, int tokens) {
    for (int layer = 0; layer < kind.shape().layers(); layer++) {
      for (int head = 0; head < kind.shape().kvHeads(); head++) {
        assertThat(keys(kind, a, layer, head, tokens))
            .isEqualTo(keys(kind, b, layer, head, tokens));
        assertThat(values(kind, a, layer, head, tokens))
            .isEqualTo(values(kind, b, layer, head, tokens));
      }
    }
  }

  /** (tokens, keyDim). */
  private float[] keys(ShapedSpec kind, KvCache cache, int layer, int head, int tokens) {
    return vectors(
        cache,
        cache.firstRetained(layer),
        tokens,
        kind.shape().keyDim(),
        (block, count, out) -> cache.view(layer, block).expandKeys(kernels, head, count, out));
  }

  /** (tokens, valueDim). */
  private float[] values(ShapedSpec kind, KvCache cache, int layer, int head, int tokens) {
    return vectors(
        cache,
        cache.firstRetained(layer),
        tokens,
        kind.shape().valueDim(),
        (block, count, out) -> cache.view(layer, block).expandValues(kernels, head, count, out));
  }

  private interface Expansion {
    void expand(int block, int tokens, float[] out);
  }

  /** Returns zeros where a layer has evicted its tokens. */
  private static float[] vectors(
      KvCache cache, int firstRetained, int tokens, int width, Expansion expansion) {
    float[] all = new float[tokens * width];
    float[] block = new float[KvCache.TOKENS_PER_PAGE * 3 * width];
    for (int b = cache.blockOf(firstRetained); cache.firstPosition(b) < tokens; b++) {
      int first = cache.firstPosition(b);
      int count = Math.min(cache.firstPosition(b + 1), tokens) - first;
      expansion.expand(b, count, block);
      System.arraycopy(block, 0, all, first * width, count * width);
    }
    return all;
  }
}
