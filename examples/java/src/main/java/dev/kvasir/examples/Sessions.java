package dev.kvasir.examples;

import dev.kvasir.GenerateOptions;
import dev.kvasir.Generation;
import dev.kvasir.KvCacheSpec;
import dev.kvasir.LoadOptions;
import dev.kvasir.Model;
import dev.kvasir.Session;
import dev.kvasir.SessionOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Generates text, saves the session, and continues it. */
public class Sessions {
  public static void main(String[] arguments) throws IOException {
    LoadOptions load = LoadOptions.builder().cacheMemory(64 << 20).build();
    SessionOptions options =
        SessionOptions.builder().cache(KvCacheSpec.kivi(2).window(128)).contextLimit(4096).build();
    GenerateOptions greedy = GenerateOptions.greedy();
    Path file = Files.createTempFile("session", ".kvasir");

    // Pieces of text arrive while they are generated. Model.load(path) loads a model of yours.
    try (Model model = Model.bundled(load)) {
      try (Session session = model.newSession(options)) {
        Generation first = session.generate("Once upon a time", greedy, System.out::print);
        System.out.printf(
            "%n%d tokens in %d bytes of cache, %.1f tokens/s%n",
            session.length(), session.cacheBytes(), first.generatedTokensPerSecond());
        session.save(file);
      }

      // A restored session continues as if it had never stopped.
      try (Session session = model.restore(file)) {
        session.generate(" And then", greedy, System.out::print);
      }
    } finally {
      Files.delete(file);
    }
  }
}
