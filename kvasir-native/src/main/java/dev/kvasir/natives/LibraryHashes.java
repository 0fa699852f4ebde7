package dev.kvasir.natives;

import dev.kvasir.format.ContentHash;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The hashes of the libraries as built, one line each: {@code SHA-256 name}. The line {@code
 * sources} is the hash of all C files in the order of their names, {@code *.c} and then {@code
 * *.h}; the line {@code clang} is the compiler version.
 */
record LibraryHashes(Map<String, String> byName) {
  private static final String RESOURCE = "hashes";
  private static final String REMEDY = "replace the jar, or run tools/native/build in its sources";

  static LibraryHashes read() {
    String text = new String(resource(RESOURCE), StandardCharsets.UTF_8);
    return new LibraryHashes(
        text.lines()
            .map(line -> line.split(" +"))
            .collect(Collectors.toMap(parts -> parts[1], parts -> parts[0])));
  }

  /**
   * Returns the bytes of a library.
   *
   * @throws NativeUnavailableException if it is missing, or differs from what was built
   */
  byte[] verified(String library) {
    byte[] bytes = resource(library);
    String found = ContentHash.hex(bytes);
    if (!found.equals(byName.get(library))) {
      throw new NativeUnavailableException(
          "%s has the hash %s; expected %s; %s"
              .formatted(library, found, byName.get(library), REMEDY));
    }
    return bytes;
  }

  private static byte[] resource(String name) {
    try (InputStream in = LibraryHashes.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new NativeUnavailableException(
            "%s is missing from the jar of kvasir-native; %s".formatted(name, REMEDY));
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new NativeUnavailableException(
          "%s cannot be read: %s".formatted(name, e.getMessage()), e);
    }
  }
}
