package dev.kvasir.cuda;

import static dev.kvasir.cuda.BundledRuns.divergence;
import static dev.kvasir.cuda.BundledRuns.logits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.Model;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.engine.Batch;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.kernel.Crew;
import dev.kvasir.model.EngineProvider;
import dev.kvasir.model.HostEngine;
import dev.kvasir.model.ModelConfig;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The engine of devices against the host's, and against itself, with the bundled model. */
class CudaEngineTest {
  private static final int TOKENS = 2000;

  private CudaEngine engine;

  @BeforeEach
  void open() {
    engine = opened(Long.MAX_VALUE);
  }

  private static CudaEngine opened(long cacheBytes) {
    assumeTrue(Device.refusal().isEmpty(), Device.refusal().orElse(""));
    try (GgufFile file = Model.openBundled()) {
      return (CudaEngine)
          new CudaProvider()
              .open(
                  new EngineProvider.Request(
                      file,
                      ModelConfig.of(file),
                      List.of(CacheSpec.DEFAULT),
                      cacheBytes,
                      (done, all) -> {}));
    }
  }

  @AfterEach
  void closingGivesAllMemoryBack() {
    if (engine != null) {
      assertThat(engine.memory().taken()).as("bytes of pages that nobody holds").isZero();
      engine.close();
      assertThat(engine.bytes()).as("bytes that were not given back").isZero();
    }
  }

  private KvCache cache(String spec) {
    return engine.newCache(CacheSpec.parse(spec), Optional.empty(), TOKENS + 1);
  }

  /**
   * Rows are rounded to bytes before products, so the least difference anywhere becomes a visible
   * one; how large is measured on the same text with the host itself, whose first norm differs by
   * half a unit of a half.
   */
  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:4,group=32", "kivi:2,group=32", "kivi:2"})
  void logitsDifferFromTheHostsNoMoreThanRoundingMakesThem(String spec) throws IOException {
    CacheSpec kind = CacheSpec.parse(spec);
    try (Crew crew = new Crew(Math.min(8, Runtime.getRuntime().availableProcessors()));
        HostEngine host = BundledRuns.host(crew, false);
        HostEngine nudged = BundledRuns.host(crew, true);
        KvCache cache = host.newCache(kind, Optional.empty(), TOKENS + 1);
        KvCache nudgedCache = nudged.newCache(kind, Optional.empty(), TOKENS + 1);
        KvCache ours = cache(spec)) {
      double mean = 0;
      double most = 0;
      double floor = 0;
      for (int token : BundledRuns.prose()) {
        float[] wanted = logits(host, cache, token);
        double each = divergence(wanted, logits(engine, ours, token));
        mean += each / TOKENS;
        most = Math.max(most, each);
        floor += divergence(wanted, logits(nudged, nudgedCache, token)) / TOKENS;
      }
      System.out.printf(
          "%s: KL %.2e in the mean, %.2e at the most; the host with itself %.2e%n",
          spec, mean, most, floor);
      assertThat(mean).isLessThan(2 * floor);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2", "kivi:4"})
  void aPromptsRowsComputeAsSingleOnesDo(String spec) {
    int[] tokens = random(600);
    try (KvCache alone = cache(spec);
        KvCache atOnce = cache(spec);
        KvCache beside = cache(spec)) {
      float[] one = {};
      for (int token : tokens) {
        one = logits(engine, alone, token);
      }
      Batch batch = new Batch();
      for (int i = 0; i < tokens.length; i++) {
        batch.add(atOnce, tokens[i], i == tokens.length - 1);
      }
      batch.add(beside, 7, true);
      engine.forward(batch);
      float[] many = Arrays.copyOf(batch.logits(), batch.vocabulary());
      // One prompt is packed at its end, the other while it is read.
      assertThat(divergence(one, many)).isLessThan(spec.equals("fp16") ? 1e-3 : 0.1);
      assertThat(atOnce.length()).isEqualTo(tokens.length);
      assertThat(beside.length()).isOne();
    }
  }

  @Test
  void theLikeliestTokenIsThatOfTheLargestLogit() {
    try (KvCache one = cache("fp16");
        KvCache like = cache("fp16")) {
      float[] found = logits(engine, one, 5, 6, 7);
      Batch batch = new Batch();
      batch.add(like, 5, false);
      batch.add(like, 6, false);
      int index = batch.add(like, 7, true);
      batch.letLikeliestSuffice(index);
      engine.forward(batch);
      int best = 0;
      for (int i = 0; i < found.length; i++) {
        best = found[i] > found[best] ? i : best;
      }
      assertThat(batch.likeliest(index)).isEqualTo(best);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:2"})
  void forksGoOnAsIfEachHadReadAllByItself(String spec) {
    int[] tokens = random(700);
    try (KvCache first = cache(spec);
        KvCache second = cache(spec)) {
      logits(engine, first, tokens);
      logits(engine, second, tokens);
      long alone = engine.memory().taken();
      try (KvCache fork = first.fork()) {
        assertThat(fork.length()).isEqualTo(700);
        float[] ofFirst = logits(engine, first, 11);
        float[] ofFork = logits(engine, fork, 12);
        assertThat(engine.memory().taken() - alone).isLessThan(first.bytes().total());
        assertThat(logits(engine, fork, 13)).isNotEqualTo(ofFork);
        assertThat(logits(engine, second, 11)).isEqualTo(ofFirst);
        second.truncate(700);
        assertThat(logits(engine, second, 12)).isEqualTo(ofFork);
      }
      assertThat(engine.memory().taken()).isEqualTo(alone);
      assertThat(logits(engine, first, 13)).hasSize(engine.config().vocabulary());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "kivi:4", "kivi:2"})
  void aTextThatIsCutGoesOnFromThere(String spec) {
    int[] tokens = random(700);
    try (KvCache whole = cache(spec);
        KvCache cut = cache(spec)) {
      logits(engine, whole, Arrays.copyOf(tokens, 301));
      float[] wanted = logits(engine, whole, 3);
      logits(engine, cut, tokens);
      cut.truncate(301);
      assertThat(cut.length()).isEqualTo(301);
      float[] found = logits(engine, cut, 3);
      // Of what was packed behind the cut there is no more than packing left.
      assertThat(divergence(wanted, found)).isLessThan(spec.equals("fp16") ? 1e-6 : 0.1);
      cut.truncate(0);
      assertThat(cut.length()).isZero();
      assertThat(cut.bytes().total()).isZero();
    }
  }

  @Test
  void aBlockThatIsCutBecomesWhatAttentionSawOfIt() {
    int[] tokens = random(700);
    try (KvCache cut = cache("kivi:2,group=32,window=0");
        KvCache whole = cache("kivi:2,group=32,window=0")) {
      logits(engine, cut, tokens);
      logits(engine, whole, Arrays.copyOf(tokens, 640));
      assertThat(((DeviceCache) whole).pages().packedTokens()).isEqualTo(640);
      cut.truncate(639); // in the midst of a block, which is halves from now on
      assertThat(((DeviceCache) cut).pages().packedTokens()).isEqualTo(512);
      whole.truncate(639);
      assertThat(logits(engine, cut, 3)).isEqualTo(logits(engine, whole, 3));
    }
  }

  @Test
  void kindsOfPagesShareABatch() {
    try (KvCache halves = cache("fp16");
        KvCache packed = cache("kivi:2");
        KvCache alone = cache("kivi:2")) {
      Batch batch = new Batch();
      batch.add(halves, 5, true);
      int index = batch.add(packed, 6, true);
      engine.forward(batch);
      float[] found =
          Arrays.copyOfRange(
              batch.logits(),
              batch.logitsAt(index),
              batch.logitsAt(index) + engine.config().vocabulary());
      assertThat(divergence(logits(engine, alone, 6), found)).isLessThan(1e-3);
    }
  }

  @Test
  void whoFindsNoMemoryIsRefusedAndOthersGoOn() {
    long page;
    try (KvCache one = cache("fp16")) {
      logits(engine, one, 1);
      page = one.bytes().total();
    }
    CudaEngine small = opened(3 * page);
    try (KvCache first = small.newCache(CacheSpec.DEFAULT, Optional.empty(), TOKENS);
        KvCache second = small.newCache(CacheSpec.DEFAULT, Optional.empty(), TOKENS)) {
      logits(small, first, random(64));
      logits(small, second, random(128));
      Batch batch = new Batch();
      batch.add(second, 1, true);
      int index = batch.add(first, 1, true);
      small.step(batch);
      RuntimeException refused =
          batch.failure(batch.cache(0)).or(() -> batch.failure(batch.cache(1))).orElseThrow();
      assertThat(refused)
          .isInstanceOf(CacheFullException.class)
          .hasMessageContaining("the cache cannot take 1 tokens after");
      assertThat(index).isOne();
      assertThat(first.length() + second.length()).isEqualTo(64 + 128);
      second.truncate(64);
      assertThat(logits(small, first, 1)).isNotEmpty();
    } finally {
      small.close();
    }
  }

  @Test
  void whatLiesOnADeviceIsNotStored() {
    try (KvCache cache = cache("kivi:2")) {
      assertThatThrownBy(cache::form)
          .isInstanceOf(InvalidInputException.class)
          .hasMessage(
              "a cache on a device cannot be stored by the host; expected one on the processor");
    }
  }

  private int[] random(int count) {
    return new Random(3).ints(count, 0, engine.config().vocabulary()).toArray();
  }
}
