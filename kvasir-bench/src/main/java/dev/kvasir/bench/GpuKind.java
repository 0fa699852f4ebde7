package dev.kvasir.bench;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.codec.pmkvq.KeyScaleAxis;
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
 * @param isSmoothed whether keys are divided by factors
 */
record GpuKind(String name, DeviceCacheConfig cacheConfig, int bits, boolean isSmoothed) {
  /** Parses a cache spec. */
  static GpuKind of(String text) {
    DeviceCacheConfig cacheConfig = DeviceCacheConfig.of(CacheSpec.parse(text));
    PageFormat format = cacheConfig.format();
    if (!(format instanceof PmkvqFormat)) {
      return new GpuKind(format.toString(), cacheConfig, format.bits(), false);
    }
    PmkvqConfig config = PmkvqConfig.of(CacheSpec.parse(text).pageKeys());
    return new GpuKind(name(config), cacheConfig, config.floorBits(), config.usesSmoothing());
  }

  private static String name(PmkvqConfig config) {
    String name = "pmkvq:" + config.floorBits();
    if (config.keyScales() == KeyScaleAxis.CHANNEL) {
      return name;
    }
    return name + (config.usesSmoothing() ? ",keys=token" : ",keys=token,smoothing=off");
  }

  /** Returns the same kind of cache with tables that its spec lacks. */
  GpuKind with(DeviceCacheConfig other) {
    int otherBits = other.format() instanceof PmkvqFormat ? bits : other.format().bits();
    return new GpuKind(name, other, otherBits, isSmoothed);
  }

  /** Adds random smoothing factors for one layer, if keys are divided by some. */
  GpuKind withFactors(GpuShape shape) {
    if (!isSmoothed || !(format() instanceof PmkvqFormat pmkvq)) {
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
