package dev.kvasir.cuda.engine;

import static dev.kvasir.cuda.engine.BundledModel.logits;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cuda.driver.NeedsDevice;
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

/** KIVI and KVTuner with the widths of the bundled profile on a device. */
@NeedsDevice
class KiviLayersEngineTest {
  private static final Optional<Profile> PROFILE = BundledFiles.profile();

  private CudaEngine engine;

  @BeforeEach
  void open() {
    engine = BundledModel.device(CacheSpec.parse("kvtuner:3"));
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
  @ValueSource(strings = {"kvtuner:3", "kvtuner:4,group=32,sinks=5", "kivi:2,widths=profile"})
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

  @Test
  void restoredSequencesContinueWithTheSameBits() throws IOException {
    int[] prose = BundledModel.prose();
    CacheSpec spec = CacheSpec.parse("kvtuner:3,sinks=16");
    try (KvCache cache = engine.newCache(spec, PROFILE, 2000)) {
      logits(engine, cache, Arrays.copyOf(prose, 700));
      try (KvCache restored = engine.restoreCache(spec, PROFILE, 2000, cache.snapshot())) {
        assertThat(restored.bytes()).isEqualTo(cache.bytes());
        for (int i = 700; i < 720; i++) {
          assertThat(logits(engine, restored, prose[i])).isEqualTo(logits(engine, cache, prose[i]));
        }
      }
    }
  }
}
