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
 * Loads the native half of the tokenizer library from its jar and from nowhere else.
 *
 * <p>The library's own loader probes for CUDA, may download a build to match, and keeps a copy in
 * the home directory; its Java front also has a call home. So both are passed by: the shared object
 * goes to a private temporary folder, is loaded, and is unlinked at once where the system allows
 * that (Windows does not; there it may stay behind in the temporary folder).
 */
final class NativeTokenizers {
  private static final CompletableFuture<TokenizersLibrary> LIBRARY =
      CompletableFuture.supplyAsync(NativeTokenizers::load);

  private NativeTokenizers() {}

  /** Begins to unpack and load (0.1 to 0.2 s), for callers with something else to do meanwhile. */
  static void prepare() {
    // Initialising this class has begun it.
  }

  /** The entry points, once the library is loaded. */
  static TokenizersLibrary library() {
    try {
      return LIBRARY.join();
    } catch (CompletionException e) {
      throw new IllegalStateException(
          "The tokenizer library cannot be loaded: " + e.getCause().getMessage(), e.getCause());
    }
  }

  @SuppressWarnings("restricted") // loading a library is what this class is for
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
