package dev.kvasir.text;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Loads the native tokenizer library, only ever from its jar.
 *
 * <p>The library's own loader probes for CUDA, may download a matching build, and keeps a copy in
 * the home directory. Its Java wrapper also sends telemetry. This class bypasses both: it extracts
 * the shared object to a private temporary folder, loads it, and deletes it at once. Windows does
 * not allow that, so the file may remain there.
 */
final class NativeTokenizers {
  private static final CompletableFuture<TokenizersLibrary> LIBRARY =
      CompletableFuture.supplyAsync(NativeTokenizers::load);

  private NativeTokenizers() {}

  /** Starts to extract and load the library (0.1 to 0.2 s) in the background. */
  static void prepare() {
    // Initialising this class has started it.
  }

  /** Returns the entry points; waits until the library is loaded. */
  static TokenizersLibrary library() {
    try {
      return LIBRARY.join();
    } catch (CompletionException e) {
      throw new IllegalStateException(
          "The tokenizer library cannot be loaded: " + e.getCause().getMessage(), e.getCause());
    }
  }

  @SuppressWarnings("restricted") // this class exists to load a library
  private static TokenizersLibrary load() {
    String platform = platform();
    List<String> names = new ArrayList<>();
    if (platform.startsWith("win")) {
      names.addAll(List.of("libwinpthread-1.dll", "libgcc_s_seh-1.dll", "libstdc++-6.dll"));
    }
    names.add(System.mapLibraryName("tokenizers"));
    try {
      Path folder = Files.createTempDirectory("kvasir-tokenizers");
      folder.toFile().deleteOnExit();
      List<Path> files = new ArrayList<>();
      for (String name : names) {
        files.add(extract(platform, name, folder));
      }
      files.forEach(file -> System.load(file.toString()));
      for (Path file : files) {
        if (!file.toFile().delete()) {
          file.toFile().deleteOnExit();
        }
      }
      return TokenizersLibrary.LIB;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Path extract(String platform, String name, Path folder) throws IOException {
    String resource = "/native/lib/" + platform + "/cpu/" + name;
    try (InputStream in = TokenizersLibrary.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException(
            "it has no build for %s, which would be the resource %s".formatted(platform, resource));
      }
      Path file = folder.resolve(name).toAbsolutePath();
      Files.copy(in, file);
      file.toFile().deleteOnExit();
      return file;
    }
  }

  private static String platform() {
    String os = System.getProperty("os.name");
    String arch = System.getProperty("os.arch");
    String prefix = os.startsWith("Win") ? "win" : os.startsWith("Mac") ? "osx" : "linux";
    return prefix + "-" + (arch.equals("amd64") ? "x86_64" : arch);
  }
}
