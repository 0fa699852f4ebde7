package dev.kvasir.cuda.formats.patternkv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.patternkv.PatternChoice;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The configuration of PatternKV caches on a device. */
class PatternkvFormatProviderTest {
  @Test
  void specsAreParsedLikeOnTheHost() {
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("patternkv:4,rope=static,sinks=16")))
        .isEqualTo(
            new DeviceCacheConfig(
                new PatternkvFormat(
                    4, 32, true, 0.05, PatternChoice.RANGE, 3, false, Optional.empty()),
                128,
                128,
                16));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "patternkv:2 | 3 | true",
        "patternkv:2,rope=rotate | 3 | true",
        "patternkv:2,v-patterns=off | 1 | true",
        "patternkv:2,rope=static,v-patterns=off | 1 | false",
        "patternkv:2,k-patterns=off | 2 | false",
        "patternkv:2,k-patterns=off,v-patterns=off | 0 | false"
      })
  void eitherSideMayLackPatterns(String spec, int sides, boolean rotates) {
    PatternkvFormat format = (PatternkvFormat) DeviceCacheConfig.of(CacheSpec.parse(spec)).format();
    assertThat(format.sides()).isEqualTo(sides);
    assertThat(format.rotates()).isEqualTo(rotates);
    assertThat(format.tablePages(3)).isEqualTo(sides == 0 ? 0 : 2);
  }
}
