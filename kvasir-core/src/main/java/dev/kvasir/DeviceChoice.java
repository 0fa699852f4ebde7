package dev.kvasir;

import dev.kvasir.cache.CacheSpec;
import java.util.List;

/**
 * The device that a model computes on.
 *
 * @param cacheSpecs caches that will be requested. What a device does not support is rejected
 *     before anything is loaded, or selects the processor.
 */
public record DeviceChoice(DeviceType type, List<CacheSpec> cacheSpecs) {
  /** The device, as users type it. */
  public enum DeviceType {
    /** The host's processor. */
    CPU,
    /** An NVIDIA GPU. */
    CUDA,
    /** A GPU that supports the request if there is one, else the processor. */
    AUTO
  }

  public static final DeviceChoice CPU = new DeviceChoice(DeviceType.CPU, List.of());

  public DeviceChoice {
    cacheSpecs = List.copyOf(cacheSpecs);
  }
}
