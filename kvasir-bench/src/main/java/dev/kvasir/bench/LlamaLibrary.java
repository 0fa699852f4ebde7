package dev.kvasir.bench;

import de.kherud.llama.LlamaModel;
import de.kherud.llama.args.LogFormat;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Loads llama.cpp without the side effects of its loader. That loader writes to the shared
 * temporary folder, deletes presumed old copies of itself there, and prints to standard output.
 */
final class LlamaLibrary {
  private static final String FOLDER = "de.kherud.llama.tmpdir";

  private static boolean loaded;

  private LlamaLibrary() {}

  static synchronized void load() {
    if (loaded) {
      return;
    }
    PrintStream out = System.out;
    try {
      Path folder = Files.createTempDirectory("kvasir-llama");
      System.setProperty(FOLDER, folder.toString());
      System.setOut(new PrintStream(OutputStream.nullOutputStream()));
      LlamaModel.setLogger(LogFormat.TEXT, (level, message) -> {});
      delete(folder);
      loaded = true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      System.setOut(out);
    }
  }

  /** Deletes the files; the loaded library stays in memory. */
  private static void delete(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }
}
