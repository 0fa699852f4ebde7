package dev.kvasir.cuda.driver;

import dev.kvasir.format.ContentHash;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;

/**
 * A precompiled kernel image. Machine code for one compute capability also runs on later ones with
 * the same major version. For other devices the driver compiles PTX, which takes seconds.
 */
enum KernelImage {
  AMPERE("sm_80.cubin.gz", 80),
  ADA("sm_89.cubin.gz", 89),
  /** With instructions that exist on 9.0 only. */
  HOPPER("sm_90a.cubin.gz", 90),
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
    return this == HOPPER
        ? computeCapability == later
        : computeCapability / 10 == later / 10 && computeCapability <= later;
  }

  String file() {
    return file;
  }

  /** Returns the image as the driver expects it; PTX text ends with a zero byte. */
  byte[] bytes() {
    byte[] image = KernelHashes.read().verified(file);
    return this == PORTABLE ? Arrays.copyOf(image, image.length + 1) : image;
  }

  /**
   * SHA-256 hashes of the compiled kernels, one line each: {@code SHA-256 name}. The line {@code
   * sources} is the hash of all sources in name order, {@code *.cu} before {@code *.cuh}. The line
   * {@code nvcc} holds the compiler version.
   */
  record KernelHashes(Map<String, String> byName) {
    private static final String FOLDER = "/dev/kvasir/cuda/";
    private static final String HASHES = "hashes";

    static KernelHashes read() {
      String text = new String(resource(HASHES), StandardCharsets.UTF_8);
      return new KernelHashes(
          text.lines()
              .map(line -> line.split(" +"))
              .collect(Collectors.toMap(parts -> parts[1], parts -> parts[0])));
    }

    /**
     * Returns the decompressed bytes of a compiled file.
     *
     * @throws DeviceException if the file is missing or its hash differs
     */
    byte[] verified(String name) {
      byte[] bytes = resource(name);
      String found = ContentHash.hex(bytes);
      if (!found.equals(byName.get(name))) {
        throw new DeviceException(
            "%s has the hash %s; expected %s".formatted(name, found, byName.get(name)));
      }
      try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
        return in.readAllBytes();
      } catch (IOException e) {
        throw new DeviceException("%s cannot be read: %s".formatted(name, e.getMessage()));
      }
    }

    private static byte[] resource(String name) {
      try (InputStream in = KernelHashes.class.getResourceAsStream(FOLDER + name)) {
        if (in == null) {
          throw new DeviceException("%s is missing from the jar of kvasir-cuda".formatted(name));
        }
        return in.readAllBytes();
      } catch (IOException e) {
        throw new DeviceException("%s cannot be read: %s".formatted(name, e.getMessage()));
      }
    }
  }
}
