package dev.kvasir.cuda.engine;

import static dev.kvasir.cuda.engine.BundledModel.logits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.model.DecoderEngine;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.BundledFiles;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** PM-KVQ with the widths and factors of the bundled profile on a device. */
@NeedsDevice
class PmkvqEngineTest {
  private static final Optional<Profile> PROFILE = BundledFiles.profile();
  private static final String PAPER = "pmkvq:2,budget=3MiB,keys=token,shrink=layer,born=wide";

  private CudaEngine engine;

  @BeforeEach
  void open() {
    engine = BundledModel.device(CacheSpec.parse(PAPER));
  }

  @AfterEach
  void closingFreesAllMemory() {
    if (engine != null) {
      assertThat(engine.memory().usedBytes()).as("bytes of pages that nobody holds").isZero();
      engine.close();
      assertThat(engine.bytes()).as("bytes that were not given back").isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {PAPER, "pmkvq:2,budget=3MiB,sinks=16"})
  void decodingAfterAPromptMatchesTheHost(String spec) throws IOException {
    int[] prose = BundledModel.prose();
    new HostComparison(engine, PROFILE)
        .checkDivergence(spec, 900, 400, (with, cache) -> read(with, cache, prose, 900));
  }

  /** Reads tokens in steps that fit into the budget. */
  private static void read(DecoderEngine with, KvCache cache, int[] tokens, int count) {
    for (int from = 0; from < count; from += 180) {
      logits(with, cache, Arrays.copyOfRange(tokens, from, Math.min(count, from + 180)));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {PAPER + ",widths=same", "pmkvq:2,budget=3MiB,widths=profile"})
  void decodingAfterTruncationMatchesTheHost(String spec) throws IOException {
    int[] prose = BundledModel.prose();
    new HostComparison(engine, PROFILE)
        .checkDivergence(
            spec,
            301,
            400,
            (with, cache) -> {
              read(with, cache, prose, 700);
              cache.truncate(301); // in the middle of a packed block
              assertThat(cache.length()).isEqualTo(301);
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {PAPER, "pmkvq:2,budget=4MiB"})
  void forksAndTruncatedCachesTakeNoMemory(String spec) {
    int[] tokens = new int[700];
    Arrays.setAll(tokens, i -> i % 200);
    try (KvCache cache = engine.newCache(CacheSpec.parse(spec), PROFILE, 2001)) {
      read(engine, cache, tokens, tokens.length);
      long alone = engine.memory().usedBytes();
      try (KvCache fork = cache.fork()) {
        assertThat(logits(engine, fork, 12)).hasSize(engine.config().vocabulary());
        assertThat(engine.memory().usedBytes() - alone).isLessThan(cache.bytes().total());
      }
      assertThat(engine.memory().usedBytes()).isEqualTo(alone).isEqualTo(cache.bytes().total());
      cache.truncate(0);
      assertThat(cache.bytes().total()).isZero();
      assertThat(engine.memory().usedBytes()).isZero();
    }
  }
}
