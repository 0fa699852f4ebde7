package dev.kvasir.cuda;

import dev.kvasir.format.ContentHash;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;

/**
 * What the compiled kernels were when they were built, a line each: {@code SHA-256 name}. The line
 * of {@code sources} is the hash of all sources in the order of their names, {@code *.cu} and then
 * {@code *.cuh}; that of {@code nvcc} is the version that compiled them.
 */
record KernelHashes(Map<String, String> byName) {
  private static final String RESOURCE = "hashes";

  static KernelHashes read() {
    String text = new String(resource(RESOURCE), StandardCharsets.UTF_8);
    return new KernelHashes(
        text.lines()
            .map(line -> line.split(" +"))
            .collect(Collectors.toMap(parts -> parts[1], parts -> parts[0])));
  }

  /**
   * The bytes of a compiled file, out of its compression.
   *
   * @throws DeviceException if it is missing, or is not what was built
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
    try (InputStream in = KernelHashes.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new DeviceException("%s is missing from the jar of kvasir-cuda".formatted(name));
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new DeviceException("%s cannot be read: %s".formatted(name, e.getMessage()));
    }
  }
}
