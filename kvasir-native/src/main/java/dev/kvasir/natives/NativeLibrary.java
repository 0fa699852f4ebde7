package dev.kvasir.natives;

import dev.kvasir.format.ContentHash;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The library of a platform, loaded for the lifetime of the process. Its bytes are checked against
 * the recorded hash, written to a directory that only the owner can enter, loaded, and deleted.
 */
@SuppressWarnings("restricted") // loads a library
final class NativeLibrary {
  private static final Linker LINKER = Linker.nativeLinker();

  private final SymbolLookup symbols;

  private NativeLibrary(SymbolLookup symbols) {
    this.symbols = symbols;
  }

  /**
   * @param name the library among this package's resources
   * @throws NativeUnavailableException if it cannot be loaded
   */
  static NativeLibrary load(String name) {
    if (!NativeLibrary.class.getModule().isNativeAccessEnabled()) {
      throw new NativeUnavailableException(
          "native access is not enabled; pass --enable-native-access=ALL-UNNAMED to java");
    }
    byte[] bytes = LibraryHashes.read().verified(name);
    try {
      // Readable, writable and searchable by its owner only.
      Path folder = Files.createTempDirectory("kvasir");
      Path file = folder.resolve(name.replace('/', '-'));
      try {
        Files.write(file, bytes);
        return new NativeLibrary(SymbolLookup.libraryLookup(file, Arena.global()));
      } finally {
        delete(file);
        delete(folder);
      }
    } catch (IOException | IllegalArgumentException e) {
      throw new NativeUnavailableException(
          ("%s cannot be loaded from %s: %s; pass -Djava.io.tmpdir=FOLDER"
                  + " with a folder that can be written to and is not mounted noexec")
              .formatted(name, System.getProperty("java.io.tmpdir"), e.getMessage()),
          e);
    }
  }

  /**
   * Returns a library of the operating system that every process has loaded.
   *
   * @throws NativeUnavailableException if there is none of this name
   */
  static NativeLibrary ofSystem(String name) {
    try {
      return new NativeLibrary(SymbolLookup.libraryLookup(name, Arena.global()));
    } catch (IllegalArgumentException e) {
      throw new NativeUnavailableException(
          "%s cannot be loaded: %s".formatted(name, e.getMessage()), e);
    }
  }

  /**
   * Deletes a file now, or at exit: Windows locks a loaded library's file until the process ends.
   */
  private static void delete(Path path) {
    try {
      Files.delete(path);
    } catch (IOException e) {
      path.toFile().deleteOnExit();
    }
  }

  /**
   * Returns a function that accesses arrays in place. Its thread cannot reach a safepoint while it
   * runs, so calls must take less than 0.1 milliseconds.
   */
  MethodHandle function(String name, FunctionDescriptor type) {
    return LINKER.downcallHandle(symbol(name), type, Linker.Option.critical(true));
  }

  private MemorySegment symbol(String name) {
    return symbols
        .find(name)
        .orElseThrow(
            () -> new NativeUnavailableException("the library has no function %s".formatted(name)));
  }

  /**
   * The hashes of the libraries as built, one line each: {@code SHA-256 name}. The line {@code
   * sources} is the hash of all C files in the order of their names, {@code *.c} and then {@code
   * *.h}; the line {@code clang} is the compiler version.
   */
  record LibraryHashes(Map<String, String> byName) {
    private static final String RESOURCE = "hashes";
    private static final String REMEDY =
        "replace the jar, or run tools/native/build in its sources";

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
}
