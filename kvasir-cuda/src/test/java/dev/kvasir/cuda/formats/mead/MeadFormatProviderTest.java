package dev.kvasir.cuda.formats.mead;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.ModelTables;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.GgufFile;
import dev.kvasir.model.ModelConfig;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.BundledFiles;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The configuration of Mead caches on a device. */
class MeadFormatProviderTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mead:2,profile=none | the cache 'mead:2,profile=none' is fitted to each sequence; a device"
            + " needs a calibrated profile",
        "mead:2,classes=attention | the cache 'mead:2,classes=attention' sorts tokens by received"
            + " attention, which a device does not observe; expected classes=energy",
        "mead:2,budget=1GiB | the cache 'mead:2,budget=1GiB' requantizes old pages; on a device"
            + " expected no budget",
        "mead:2,late-sinks=2 | the cache 'mead:2,late-sinks=2' keeps 2 late sinks by received"
            + " attention, which a device does not observe; expected late-sinks=0"
      })
  void othersAreRefused(String spec, String message) {
    assertThatThrownBy(() -> DeviceCacheConfig.of(CacheSpec.parse(spec)))
        .isInstanceOf(DeviceException.class)
        .hasMessage(message);
  }

  @Test
  void sequencesCannotBeStored() {
    assertThatThrownBy(
            () -> DeviceCacheConfig.of(CacheSpec.parse("mead:2")).requireStorable("mead:2"))
        .isInstanceOf(DeviceException.class);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "mead:2 | true",
        "mead:2,first=coded | true",
        "mead:1.5,tables=off | true",
        "mead:1.5,tables=off,first=coded,late-sinks=0 | false",
        "mead:2,tables=centroids | true"
      })
  void predictionsThatDifferByTokenAreDecoded(String spec, boolean isDecoded) {
    Optional<Profile> profile = BundledFiles.profile();
    DeviceCacheConfig config = config(spec, profile);
    MeadFormat format = (MeadFormat) config.format();
    assertThat(format.model().isDecoded()).isEqualTo(isDecoded);
    assertThat(config.sinks()).isEqualTo(16);
    assertThat(config.window()).isEqualTo(128);
    assertThat(format.spanBytes() % 64).isZero();
    assertThat(config(spec, profile)).isNotNull();
  }

  @Test
  void missingTablesAreExplained() {
    assertThatThrownBy(() -> config("mead:2", Optional.empty()))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("needs a calibrated profile");
  }

  private static DeviceCacheConfig config(String spec, Optional<Profile> profile) {
    try (GgufFile file = BundledFiles.open();
        ModelTables tables = new ModelTables()) {
      FormatRequest.LoadedModel model = new FormatRequest.LoadedModel(ModelConfig.of(file), tables);
      FormatRequest request =
          FormatRequest.forCache(CacheSpec.parse(spec), profile, Optional.of(model));
      DeviceCacheConfig config = DeviceCacheConfig.of(request);
      assertThat(DeviceCacheConfig.of(request)).isEqualTo(config); // caches share their resources
      return config;
    }
  }
}
