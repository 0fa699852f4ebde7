package dev.kvasir.cuda.formats;

import dev.kvasir.cache.CacheSpec;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.model.LayerRange;
import java.util.Optional;

/**
 * The configuration of a KV cache on a device.
 *
 * @param format format of tokens outside the residual window
 * @param group group size of a scale: tokens per key channel, channels per token's value
 * @param window residual window: recent tokens that stay fp16
 * @param sinks attention sinks: first tokens, which always stay fp16
 */
public record DeviceCacheConfig(PageFormat format, int group, int window, int sinks) {
  public static final DeviceCacheConfig FP16 = new DeviceCacheConfig(PageFormat.FP16, 0, 0, 0);

  public int sinkPages() {
    return Math.ceilDiv(sinks, Fp16Page.TOKENS);
  }

  /**
   * Returns the configuration on a card that holds some of the layers.
   *
   * @throws DeviceException if pages cannot be divided
   */
  public DeviceCacheConfig ofLayers(LayerRange range) {
    return range.isWhole()
        ? this
        : new DeviceCacheConfig(format.ofLayers(range), group, window, sinks);
  }

  /**
   * Checks that sequences can be stored.
   *
   * @param cache the cache's text, for the error message
   * @throws DeviceException with one sentence if they cannot
   */
  public void requireStorable(String cache) {
    if (!format.isStorable()) {
      throw new DeviceException(
          "the cache '%s' cannot be stored from a GPU; expected fp16, kivi or kvtuner, or --device cpu"
              .formatted(cache));
    }
  }

  /**
   * Returns the configuration of a cache whose model and profile are not known yet.
   *
   * @throws dev.kvasir.cuda.driver.DeviceException if there are no kernels for the cache
   */
  public static DeviceCacheConfig of(CacheSpec spec) {
    return of(FormatRequest.forEstimate(spec, Optional.empty(), Optional.empty()));
  }

  /**
   * Returns the configuration of a cache.
   *
   * @throws dev.kvasir.cuda.driver.DeviceException if there are no kernels for the cache
   */
  public static DeviceCacheConfig of(FormatRequest request) {
    return PageFormatRegistry.cacheConfig(request);
  }
}
