package dev.kvasir.natives;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A platform's library, loaded for as long as the process lives. Its bytes are compared with what
 * was built, written to a folder that nobody else may enter, loaded, and deleted.
 */
@SuppressWarnings("restricted") // loading is what it is for
final class NativeLibrary {
  private static final Linker LINKER = Linker.nativeLinker();

  private final SymbolLookup symbols;

  private NativeLibrary(SymbolLookup symbols) {
    this.symbols = symbols;
  }

  /**
   * @throws NativeUnavailableException if it cannot be had
   */
  static NativeLibrary load(Platform platform) {
    if (!NativeLibrary.class.getModule().isNativeAccessEnabled()) {
      throw new NativeUnavailableException(
          "native access is not enabled; pass --enable-native-access=ALL-UNNAMED to java");
    }
    byte[] bytes = LibraryHashes.read().verified(platform.library());
    try {
      // Readable, writable and enterable for its owner alone.
      Path folder = Files.createTempDirectory("kvasir");
      Path file = folder.resolve(platform.library());
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
              .formatted(platform.library(), System.getProperty("java.io.tmpdir"), e.getMessage()),
          e);
    }
  }

  /**
   * A library of the operating system, which every process has loaded.
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

  /** Windows keeps a loaded library's file until the process ends. */
  private static void delete(Path path) {
    try {
      Files.delete(path);
    } catch (IOException e) {
      path.toFile().deleteOnExit();
    }
  }

  /**
   * A function that takes arrays where they lie. While it runs, its thread cannot be stopped, so
   * calls are to take less than a tenth of a millisecond.
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
}
