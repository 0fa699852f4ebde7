package dev.kvasir.bench;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.pmkvq.PmkvqConfig;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.PageFormat;
import dev.kvasir.cuda.formats.pmkvq.KeyFactors;
import dev.kvasir.cuda.formats.pmkvq.PmkvqFormat;
import java.util.Random;

/**
 * A kind of cache whose attention is measured. Pages that are requantized have the floor of their
 * spec.
 *
 * @param name the kind in reports
 * @param bits bits of the measured pages
 */
record GpuKind(String name, DeviceCacheConfig cacheConfig, int bits) {
  /** Parses a cache spec. */
  static GpuKind of(String text) {
    DeviceCacheConfig cacheConfig = DeviceCacheConfig.of(CacheSpec.parse(text));
    if (!(cacheConfig.format() instanceof PmkvqFormat)) {
      return of(cacheConfig);
    }
    PmkvqConfig config = PmkvqConfig.of(CacheSpec.parse(text).pageKeys());
    String name =
        cacheConfig.format().toString().replaceFirst("pmkvq", "pmkvq:" + config.floorBits());
    String smoothed =
        config.usesSmoothing() ? name : name.replaceFirst("token", "token,smoothing=off");
    return new GpuKind(smoothed, cacheConfig, config.floorBits());
  }

  private static GpuKind of(DeviceCacheConfig cacheConfig) {
    return new GpuKind(cacheConfig.format().toString(), cacheConfig, cacheConfig.format().bits());
  }

  /** Returns the same kind of cache with tables that its spec lacks. */
  GpuKind with(DeviceCacheConfig other) {
    return new GpuKind(name, other, bits);
  }

  /** Adds random smoothing factors for one layer, if keys would be divided by some. */
  GpuKind withFactors(GpuShape shape) {
    if (!(format() instanceof PmkvqFormat pmkvq) || !name.endsWith("keys=token")) {
      return this;
    }
    Random random = new Random(5);
    float[] factors = new float[shape.heads().kvHeads() * shape.heads().headDim()];
    for (int i = 0; i < factors.length; i++) {
      factors[i] = 0.5f + random.nextFloat();
    }
    return with(
        new DeviceCacheConfig(
            pmkvq.withFactors(new KeyFactors(factors)),
            cacheConfig.group(),
            cacheConfig.window(),
            cacheConfig.sinks()));
  }

  PageFormat format() {
    return cacheConfig.format();
  }

  /** Returns the bytes of a page of one KV head. */
  int pageBytes(int headDim) {
    return format() instanceof PmkvqFormat pmkvq
        ? pmkvq.pageBytesOf(bits, headDim)
        : format().pageBytes(headDim);
  }
}
