package dev.kvasir.cuda.driver;

import dev.kvasir.format.ContentHash;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;

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
