package dev.kvasir.cuda.formats.pmkvq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import org.junit.jupiter.api.Test;

/** The configuration of PM-KVQ caches on a device. */
class PmkvqFormatProviderTest {
  @Test
  void specsAreParsedLikeOnTheHost() {
    assertThat(DeviceCacheConfig.of(CacheSpec.parse("pmkvq:2,budget=1MiB")))
        .isEqualTo(new DeviceCacheConfig(new PmkvqFormat(), 0, 128, 1));
  }
}
