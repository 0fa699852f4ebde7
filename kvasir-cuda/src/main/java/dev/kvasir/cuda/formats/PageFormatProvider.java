package dev.kvasir.cuda.formats;

/**
 * Provides the page format of a quantization method on a device. {@link PageFormatRegistry} finds
 * implementations, which have a public constructor without parameters.
 */
public interface PageFormatProvider {
  /** Returns the name that specs of the method start with. */
  String method();

  /**
   * Returns the configuration of a cache of this method.
   *
   * @throws dev.kvasir.cuda.driver.DeviceException if there are no kernels for the cache
   */
  DeviceCacheConfig cacheConfig(FormatRequest request);
}
