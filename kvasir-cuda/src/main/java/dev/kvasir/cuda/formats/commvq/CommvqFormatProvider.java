package dev.kvasir.cuda.formats.commvq;

import dev.kvasir.codec.commvq.CommvqConfig;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.FormatRequest;
import dev.kvasir.cuda.formats.PageFormatProvider;

/** Provides pages of CommVQ. Ignores how keys are read: all variants read the same keys. */
public final class CommvqFormatProvider implements PageFormatProvider {
  @Override
  public String method() {
    return "commvq";
  }

  @Override
  public DeviceCacheConfig cacheConfig(FormatRequest request) {
    CommvqConfig config = CommvqConfig.of(request.text());
    if (!CommvqFormat.BITS.contains(config.bits())) {
      throw request.unsupported(
          "has codebooks of %d bits; on a device expected 1 or 2".formatted(config.bits()));
    }
    if (config.beam() > CommvqCodebooks.MAX_BEAM) {
      throw request.unsupported(
          "has a beam of %d; on a device expected at most %d"
              .formatted(config.beam(), CommvqCodebooks.MAX_BEAM));
    }
    return new DeviceCacheConfig(
        new CommvqFormat(config.bits(), codebooks(request)), 0, config.window(), config.sinks());
  }

  private static CommvqCodebooks codebooks(FormatRequest request) {
    return request
        .model()
        .map(CommvqCodebookCache::of)
        .map(cache -> cache.codebooks(request.spec(), request.profile()))
        .orElse(null);
  }
}
