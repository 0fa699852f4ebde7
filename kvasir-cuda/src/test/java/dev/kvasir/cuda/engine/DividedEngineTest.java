package dev.kvasir.cuda.engine;

import static dev.kvasir.cuda.engine.BundledModel.logits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.CacheContext;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.engine.Batch;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.BundledFiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bundled model in two and in three ranges of layers has the bits of the model in one range.
 * The ranges are on one device, or on all of a machine that has several.
 */
@NeedsDevice
class DividedEngineTest {
  private static final Optional<Profile> PROFILE = BundledFiles.profile();
  private static final int TOKENS = 2000;

  /** With auxiliary kernels, tables, groups of layers, widths by layer and codebooks. */
  static final List<String> SPECS =
      List.of(
          "fp16",
          "kivi:2",
          "kivi:4,group=32,window=0,sinks=16",
          "kivi:3,v=2",
          "kvtuner:3",
          "patternkv:2,rope=static,sinks=16",
          "patternkv:4",
          "pmkvq:2,budget=3MiB,widths=same,sinks=16",
          "pmkvq:2,budget=3MiB,keys=token,shrink=layer,born=wide",
          "mixkvq,high=4.208,mid=2.238",
          "commvq:1");

  private static CudaEngine one;
  private static CudaEngine two;
  private static CudaEngine three;
  private static int[] prose;

  @BeforeAll
  static void open() throws IOException {
    prose = BundledModel.prose();
    one = BundledModel.device(CacheSpec.DEFAULT);
    two = BundledModel.divided(2, CacheSpec.DEFAULT, 1L << 30);
    three = BundledModel.divided(3, CacheSpec.DEFAULT, 1L << 30);
  }

  private static List<CudaEngine> engines() {
    return List.of(one, two, three);
  }

  @AfterEach
  void closedCachesHoldNoPages() {
    for (CudaEngine engine : engines()) {
      assertThat(engine.memory().usedBytes()).as("bytes of pages that nobody holds").isZero();
    }
  }

  @AfterAll
  static void close() {
    for (CudaEngine engine : engines()) {
      engine.close();
      assertThat(engine.bytes()).as("bytes that were not given back").isZero();
    }
  }

  private static KvCache cache(CudaEngine engine, String spec) {
    return engine.newCache(CacheSpec.parse(spec), PROFILE, TOKENS);
  }

  /** What a scenario does with an engine, and the logits that it got. */
  private interface Scenario {
    List<float[]> run(CudaEngine engine);
  }

  private static void requireSameBits(Scenario scenario) {
    List<float[]> wanted = scenario.run(one);
    for (CudaEngine divided : List.of(two, three)) {
      List<float[]> found = scenario.run(divided);
      assertThat(found).hasSameSizeAs(wanted);
      for (int i = 0; i < wanted.size(); i++) {
        assertThat(found.get(i)).as("%s, logits %d", divided.device(), i).isEqualTo(wanted.get(i));
      }
    }
  }

  /** Reads a prompt in chunks that fit into the budgets. */
  private static List<float[]> read(CudaEngine engine, KvCache cache, int end, int chunk) {
    List<float[]> all = new ArrayList<>();
    while (cache.length() < end) {
      int from = cache.length();
      all.add(logits(engine, cache, Arrays.copyOfRange(prose, from, Math.min(end, from + chunk))));
    }
    return all;
  }

  @ParameterizedTest
  @FieldSource("SPECS")
  void promptsAndTokensHaveTheSameLogits(String spec) {
    requireSameBits(
        engine -> {
          try (KvCache cache = cache(engine, spec)) {
            List<float[]> all = read(engine, cache, 700, 180);
            all.addAll(read(engine, cache, 740, 1));
            return all;
          }
        });
  }

  /** The likeliest token comes from the device; a graph is captured for the second step. */
  @ParameterizedTest
  @FieldSource("SPECS")
  void greedyTextsAreTheSame(String spec) {
    List<Integer> wanted = greedy(one, spec);
    assertThat(greedy(two, spec)).isEqualTo(wanted);
    assertThat(greedy(three, spec)).isEqualTo(wanted);
  }

  private static List<Integer> greedy(CudaEngine engine, String spec) {
    List<Integer> text = new ArrayList<>();
    try (KvCache cache = cache(engine, spec)) {
      logits(engine, cache, Arrays.copyOf(prose, 100));
      int token = prose[100];
      for (int i = 0; i < 100; i++) {
        Batch batch = new Batch();
        int index = batch.add(cache, token, true);
        batch.requestArgmaxOnly(index);
        engine.forward(batch);
        token = batch.argmax(index);
        text.add(token);
      }
    }
    return text;
  }

  /** Sequences of several caches in a batch: generated tokens, and prompts of several steps. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "fp16 | fp16",
        "kivi:2 | kivi:2",
        "kivi:2 | patternkv:2,rope=static,sinks=16",
        "kvtuner:3 | pmkvq:2,budget=3MiB,keys=token,shrink=layer,born=wide"
      })
  void batchesHaveTheSameLogits(String spec, String other) {
    requireSameBits(engine -> batches(engine, spec, other));
  }

  private static List<float[]> batches(CudaEngine engine, String spec, String other) {
    List<float[]> all = new ArrayList<>();
    List<KvCache> caches = new ArrayList<>();
    try {
      for (int i = 0; i < 12; i++) {
        caches.add(cache(engine, i % 3 == 2 ? other : spec));
      }
      for (int step = 0; step < 6; step++) {
        Batch batch = new Batch();
        List<Integer> indices = new ArrayList<>();
        for (int i = 0; i < caches.size(); i++) {
          int count = i < 9 && step > 0 ? 1 : 70 + i; // the others keep reading prompts
          int from = 100 * i + caches.get(i).length();
          for (int row = 0; row < count; row++) {
            int index = batch.add(caches.get(i), prose[from + row], row == count - 1);
            if (row == count - 1) {
              indices.add(index);
            }
          }
        }
        engine.forward(batch);
        for (int index : indices) {
          int at = batch.logitsAt(index);
          int end = at + engine.config().vocabulary();
          all.add(Arrays.copyOfRange(batch.logits(), at, end));
        }
      }
    } finally {
      caches.forEach(KvCache::close);
    }
    return all;
  }

  /** A hit of the prefix cache continues a fork that was cut. */
  @ParameterizedTest
  @FieldSource("SPECS")
  void forksAndCutSequencesHaveTheSameLogits(String spec) {
    requireSameBits(
        engine -> {
          try (KvCache source = cache(engine, spec)) {
            List<float[]> all = read(engine, source, 700, 180);
            try (KvCache fork = source.fork()) {
              fork.truncate(301); // in the middle of a packed block
              assertThat(fork.length()).isEqualTo(301);
              all.addAll(read(engine, fork, 420, 64));
              all.addAll(read(engine, fork, 425, 1));
              all.addAll(read(engine, source, 705, 1));
              fork.truncate(64);
              all.addAll(read(engine, fork, 70, 1));
            }
            return all;
          }
        });
  }

  @ParameterizedTest
  @FieldSource("SPECS")
  void sequencesTakeTheSameBytes(String spec) {
    List<Long> bytes = new ArrayList<>();
    List<Object> runs = new ArrayList<>();
    for (CudaEngine engine : engines()) {
      try (KvCache cache = cache(engine, spec)) {
        read(engine, cache, 700, 180);
        assertThat(cache.bytes().total()).isEqualTo(engine.memory().usedBytes());
        bytes.add(cache.bytes().codes() + cache.bytes().window() + cache.bytes().sinks());
        runs.add(cache.runs().stream().map(run -> run.tokens() + " " + run.kind()).toList());
        cache.truncate(0);
        assertThat(cache.bytes().total()).isZero();
        assertThat(engine.memory().usedBytes()).isZero();
      }
    }
    if (!spec.startsWith("mixkvq")) { // extents are filled by each card
      assertThat(bytes).containsOnly(bytes.getFirst());
    }
    assertThat(runs).containsOnly(runs.getFirst());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fp16",
        "kivi:2",
        "kivi:3,v=2",
        "kvtuner:3",
        "patternkv:2,rope=static,sinks=16",
        "mixkvq,high=4.208,mid=2.238",
        "commvq:1"
      })
  void estimatesCoverWhatSequencesTake(String spec) {
    for (CudaEngine engine : engines()) {
      CacheContext context = engine.cacheContext().withProfile(PROFILE).withContextLimit(TOKENS);
      long most = engine.maxBytes(CacheSpec.parse(spec), context, 705, 180);
      try (KvCache cache = cache(engine, spec)) {
        read(engine, cache, 700, 180);
        assertThat(engine.memory().usedBytes()).isLessThanOrEqualTo(most);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2", "kivi:4,sinks=16"})
  void estimatesOfEqualLayersAreTheSame(String spec) {
    CacheContext context = CacheContext.unknown().withContextLimit(TOKENS);
    long wanted = one.maxBytes(CacheSpec.parse(spec), context, 1000, 256);
    assertThat(two.maxBytes(CacheSpec.parse(spec), context, 1000, 256)).isEqualTo(wanted);
    assertThat(three.maxBytes(CacheSpec.parse(spec), context, 1000, 256)).isEqualTo(wanted);
  }

  /** Memory of 640 tokens in all, half of them on each card. */
  @Test
  void sequencesShareTheMemoryOfAllCards() {
    long page = cacheBytes(1);
    CudaEngine small = BundledModel.divided(2, CacheSpec.DEFAULT, 10 * page);
    try (KvCache first = cache(small, "fp16");
        KvCache second = cache(small, "fp16")) {
      logits(small, first, Arrays.copyOf(prose, 320));
      logits(small, second, Arrays.copyOf(prose, 320));
      assertThat(small.memory().usedBytes()).isEqualTo(10 * page);
      assertThatThrownBy(() -> first.reserve(321))
          .isInstanceOf(CacheFullException.class)
          .hasMessageContaining("the cache cannot take 1 tokens after 320");
      assertThat(small.memory().usedBytes()).isEqualTo(10 * page);
      second.truncate(64);
      assertThat(logits(small, first, prose[320])).isEqualTo(after(320));
    } finally {
      small.close();
    }
    assertThat(small.bytes()).isZero();
  }

  private static long cacheBytes(int tokens) {
    try (KvCache cache = cache(one, "fp16")) {
      logits(one, cache, Arrays.copyOf(prose, tokens));
      return cache.bytes().total();
    }
  }

  private static float[] after(int tokens) {
    try (KvCache cache = cache(one, "fp16")) {
      logits(one, cache, Arrays.copyOf(prose, tokens));
      return logits(one, cache, prose[tokens]);
    }
  }

  /** A sequence is stored from any number of cards and continues on any. */
  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2,sinks=16", "kivi:3,v=2", "kvtuner:3,sinks=16"})
  void storedSequencesAreThoseOfOneCard(String spec) {
    for (CudaEngine from : engines()) {
      try (KvCache source = cache(from, spec);
          KvCache alone = cache(one, spec)) {
        read(from, source, 700, 180);
        read(one, alone, 700, 180);
        CacheSnapshot stored = source.snapshot();
        CacheSnapshot wanted = alone.snapshot();
        assertThat(stored.blocks()).isEqualTo(wanted.blocks()).isPositive();
        assertThat(stored.residual()).isEqualTo(wanted.residual());
        for (int i = 0; i < stored.blocks(); i++) {
          assertThat(stored.block(i)).as("block %d", i).isEqualTo(wanted.block(i));
        }
        List<float[]> continued = read(one, alone, 705, 1);
        for (CudaEngine to : engines()) {
          CacheSpec parsed = CacheSpec.parse(spec);
          try (KvCache restored = to.restoreCache(parsed, PROFILE, TOKENS, stored)) {
            assertThat(restored.bytes()).isEqualTo(source.bytes());
            List<float[]> found = read(to, restored, 705, 1);
            for (int i = 0; i < found.size(); i++) {
              assertThat(found.get(i)).isEqualTo(continued.get(i));
            }
          }
        }
      }
    }
  }

  @Test
  void aStoredSequenceThatOneCardCannotHoldLeavesNoPages() {
    CudaEngine small = BundledModel.divided(2, CacheSpec.DEFAULT, 4 * cacheBytes(1));
    try (KvCache source = cache(one, "fp16")) {
      read(one, source, 300, 180);
      assertThatThrownBy(
              () -> small.restoreCache(CacheSpec.DEFAULT, PROFILE, TOKENS, source.snapshot()))
          .isInstanceOf(CacheFullException.class)
          .hasMessageStartingWith("a stored sequence of 300 tokens cannot be held: ");
      assertThat(small.memory().usedBytes()).isZero();
    } finally {
      small.close();
    }
  }

  @Test
  void thePartsOfAStepAreTimed() {
    try (KvCache cache = cache(two, "fp16")) {
      logits(two, cache, Arrays.copyOf(prose, 100));
      Batch batch = new Batch();
      batch.add(cache, prose[100], true);
      assertThat(two.profileStep(batch)).containsKeys("embedding", "attention", "likeliest");
    }
  }

  @Test
  void pagesOfAllLayersTogetherAreRefused() {
    assertThatThrownBy(() -> cache(two, "mead:2"))
        .isInstanceOf(DeviceException.class)
        .hasMessageContaining("has pages of all layers together");
  }
}
