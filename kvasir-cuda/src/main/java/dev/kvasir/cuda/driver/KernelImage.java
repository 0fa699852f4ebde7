package dev.kvasir.cuda.driver;

import java.util.Arrays;
import java.util.Comparator;

/**
 * A precompiled kernel image. Machine code for one compute capability also runs on later ones with
 * the same major version. For other devices the driver compiles PTX, which takes seconds.
 */
enum KernelImage {
  AMPERE("sm_80.cubin.gz", 80),
  ADA("sm_89.cubin.gz", 89),
  HOPPER("sm_90.cubin.gz", 90),
  PORTABLE("compute_80.ptx.gz", 80);

  private final String file;
  private final int computeCapability;

  KernelImage(String file, int computeCapability) {
    this.file = file;
    this.computeCapability = computeCapability;
  }

  /**
   * Returns the best image for a device.
   *
   * @throws DeviceException if the device is older than all images
   */
  static KernelImage of(Device device) {
    if (device.computeCapability() < PORTABLE.computeCapability) {
      throw new DeviceException(
          "%s is of generation %d.%d; expected 8.0 or later"
              .formatted(
                  device.name(), device.computeCapability() / 10, device.computeCapability() % 10));
    }
    return Arrays.stream(values())
        .filter(image -> image != PORTABLE && image.runsOn(device.computeCapability()))
        .max(Comparator.comparingInt(image -> image.computeCapability))
        .orElse(PORTABLE);
  }

  private boolean runsOn(int later) {
    return computeCapability / 10 == later / 10 && computeCapability <= later;
  }

  String file() {
    return file;
  }

  /** Returns the image as the driver expects it; PTX text ends with a zero byte. */
  byte[] bytes() {
    byte[] image = KernelHashes.read().verified(file);
    return this == PORTABLE ? Arrays.copyOf(image, image.length + 1) : image;
  }
}
