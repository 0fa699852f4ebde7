package dev.kvasir.runtime;

import dev.kvasir.LoadOptions.Device;
import dev.kvasir.cache.CacheSpec;
import java.util.List;

/**
 * The device that a model computes on.
 *
 * @param cacheSpecs caches that will be requested. What a device does not support is rejected
 *     before anything is loaded, or selects the processor.
 */
public record DeviceChoice(Device device, List<CacheSpec> cacheSpecs) {
  public static final DeviceChoice CPU = new DeviceChoice(Device.CPU, List.of());

  public DeviceChoice {
    cacheSpecs = List.copyOf(cacheSpecs);
  }

  public Device.Kind kind() {
    return device.kind();
  }

  /**
   * Returns the device for sequences that are stored: a GPU only if one is named, because a stored
   * sequence continues only on the kind of device that it was stored from.
   *
   * @throws dev.kvasir.error.InvalidInputException with one sentence if the GPU cannot store
   *     sequences of one of the caches
   */
  public DeviceChoice storing() {
    if (kind() != Device.Kind.CUDA) {
      return CPU;
    }
    EngineChoice.provider().ifPresent(device -> cacheSpecs.forEach(device::requireStorable));
    return this;
  }
}
