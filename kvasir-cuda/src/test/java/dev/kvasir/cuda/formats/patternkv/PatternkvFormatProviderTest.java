package dev.kvasir.cuda.formats.patternkv;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import org.junit.jupiter.api.Test;

/** The configuration of PatternKV caches on a device. */
class PatternkvFormatProviderTest {
  @Test
  void specsAreParsedLikeOnTheHost() {
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("patternkv:4,rope=static,sinks=16")))
        .isEqualTo(new DeviceCacheConfig(new PatternkvFormat(4, 32, true, 0.05), 128, 128, 16));
  }
}
