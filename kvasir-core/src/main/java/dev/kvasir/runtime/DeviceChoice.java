package dev.kvasir.runtime;

import dev.kvasir.LoadOptions.Device;
import dev.kvasir.cache.CacheSpec;
import java.util.List;

/**
 * The device that a model computes on.
 *
 * @param ordinal index among the devices of that type
 * @param cacheSpecs caches that will be requested. What a device does not support is rejected
 *     before anything is loaded, or selects the processor.
 */
public record DeviceChoice(Device type, int ordinal, List<CacheSpec> cacheSpecs) {
  public static final DeviceChoice CPU = new DeviceChoice(Device.CPU, List.of());

  public DeviceChoice {
    cacheSpecs = List.copyOf(cacheSpecs);
  }

  /** Chooses the first device of a type. */
  public DeviceChoice(Device type, List<CacheSpec> cacheSpecs) {
    this(type, 0, cacheSpecs);
  }
}
