package dev.kvasir;

import dev.kvasir.cache.CacheSpec;
import java.util.List;

/**
 * Where a model is to compute.
 *
 * @param kinds of caches that will be asked for, so that what a device cannot do is said before
 *     anything is loaded, or leads to the processor
 */
public record DeviceChoice(DeviceType type, List<CacheSpec> cacheSpecs) {
  /** As users type it. */
  public enum DeviceType {
    /** This machine's processor. */
    CPU,
    /** An NVIDIA card. */
    CUDA,
    /** A card where there is one that can do what is asked for, else the processor. */
    AUTO
  }

  public static final DeviceChoice CPU = new DeviceChoice(DeviceType.CPU, List.of());

  public DeviceChoice {
    cacheSpecs = List.copyOf(cacheSpecs);
  }
}
