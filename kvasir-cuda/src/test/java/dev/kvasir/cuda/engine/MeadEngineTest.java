package dev.kvasir.cuda.engine;

import static dev.kvasir.cuda.engine.BundledModel.logits;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cuda.driver.NeedsDevice;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.BundledFiles;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The bundled model with mead on a device, compared with the host. */
@NeedsDevice
class MeadEngineTest {
  /** Leaves out what depends on received attention, which a device does not observe. */
  private static final String EXACT = ",means=off,late-sinks=0";

  private static final String OFF = "mead:2,tables=off,first=coded" + EXACT;

  private static final Optional<Profile> PROFILE = BundledFiles.profile();

  private CudaEngine engine;

  @BeforeEach
  void open() {
    engine = BundledModel.device(CacheSpec.parse("mead:2"));
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
  @ValueSource(strings = {OFF, "mead:2" + EXACT})
  void logitsMatchTheHostUpToRounding(String spec) throws IOException {
    new HostComparison(engine, PROFILE).checkDivergence(spec, 0, 2000, (with, cache) -> {});
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        OFF,
        "mead:3,tables=off,sinks=0,window=0" + EXACT,
        "mead:2" + EXACT,
        "mead:1.5,tables=tokens,first=coded" + EXACT,
        "mead:1.5,tables=off,first=coded" + EXACT,
        "mead:2"
      })
  void decodingAfterAPromptMatchesTheHost(String spec) throws IOException {
    int[] prose = BundledModel.prose();
    new HostComparison(engine, PROFILE)
        .checkDivergence(
            spec,
            900,
            400,
            (with, cache) -> {
              for (int from = 0; from < 900; from += 256) {
                logits(with, cache, Arrays.copyOfRange(prose, from, Math.min(900, from + 256)));
              }
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {OFF, "mead:2" + EXACT})
  void decodingAfterTruncationMatchesTheHost(String spec) throws IOException {
    int[] prose = BundledModel.prose();
    new HostComparison(engine, PROFILE)
        .checkDivergence(
            spec,
            301,
            400,
            (with, cache) -> {
              logits(with, cache, Arrays.copyOf(prose, 700));
              cache.truncate(301);
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {OFF, "mead:2"})
  void forksMatchIndependentCaches(String spec) throws IOException {
    int[] tokens = Arrays.copyOf(BundledModel.prose(), 700);
    try (KvCache first = cache(spec);
        KvCache second = cache(spec)) {
      logits(engine, first, tokens);
      logits(engine, second, tokens);
      try (KvCache fork = first.fork()) {
        float[] ofFirst = logits(engine, first, 11);
        float[] ofFork = logits(engine, fork, 12);
        assertThat(logits(engine, second, 11)).isEqualTo(ofFirst);
        second.truncate(700);
        assertThat(logits(engine, second, 12)).isEqualTo(ofFork);
      }
    }
  }

  @Test
  void missingTablesAreExplained() {
    assertThatThrownBy(() -> engine.newCache(CacheSpec.parse("mead:2"), Optional.empty(), 100))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("needs a calibrated profile")
        .hasMessageContaining("kvasir calibrate");
  }

  private KvCache cache(String spec) {
    return engine.newCache(CacheSpec.parse(spec), PROFILE, 2001);
  }
}
