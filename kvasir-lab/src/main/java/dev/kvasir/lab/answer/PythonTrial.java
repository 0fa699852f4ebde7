package dev.kvasir.lab.answer;

import dev.kvasir.error.InvalidInputException;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Judges generated programs by running them with python3 in a child process. The process starts in
 * an empty folder without the environment of this one, and sets limits before the program begins:
 * processor time, memory, open files, no written bytes, no child processes. This stops mistakes; it
 * is no protection from a program that attacks the machine.
 */
public final class PythonTrial {
  private static final int MEMORY_BYTES = 1 << 30;
  private static final int OPEN_FILES = 32;

  /**
   * Sets the limits, then runs the program from standard input, because no file can be written
   * under them.
   */
  private static final String PRELUDE =
      """
      import os, resource, sys
      def limit(kind, most):
          if hasattr(resource, kind):
              try:
                  resource.setrlimit(getattr(resource, kind), (most, most))
              except (ValueError, OSError):
                  pass
      program = sys.stdin.read()
      os.environ.clear()
      limit('RLIMIT_CPU', %d)
      limit('RLIMIT_AS', %d)
      limit('RLIMIT_FSIZE', 0)
      limit('RLIMIT_NOFILE', %d)
      limit('RLIMIT_NPROC', 0)
      exec(compile(program, 'answer', 'exec'), {'__name__': '__main__'})
      os._exit(%d)
      """;

  private final String python;
  private final Duration limit;

  private PythonTrial(String python, Duration limit) {
    this.python = python;
    this.limit = limit;
  }

  /**
   * Returns a trial with the python3 of this machine. Rejects a machine without it, and Windows,
   * where Python cannot limit itself.
   *
   * @param limit wall time of a program
   */
  public static PythonTrial onThisMachine(Duration limit) {
    if (System.getProperty("os.name").toLowerCase(Locale.ROOT).startsWith("windows")) {
      throw new InvalidInputException(
          "programs cannot be limited on Windows; run this table on Linux or macOS");
    }
    String found =
        find("python3")
            .orElseThrow(
                () ->
                    new InvalidInputException(
                        "python3 is not on the PATH; it is needed to run generated programs"));
    return new PythonTrial(found, limit);
  }

  private static Optional<String> find(String name) {
    String path = System.getenv("PATH");
    return Stream.of(path == null ? new String[0] : path.split(File.pathSeparator))
        .map(folder -> Path.of(folder, name))
        .filter(Files::isExecutable)
        .map(Path::toString)
        .findFirst();
  }

  /** Returns whether a program ends without an error within the limits. */
  public boolean passes(String program) {
    try {
      Path folder = Files.createTempDirectory("kvasir-code");
      try {
        return run(program, folder);
      } finally {
        delete(folder);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean run(String program, Path folder) throws IOException {
    // A program that ends early with code 0 has not met its tests.
    int passed = ThreadLocalRandom.current().nextInt(64, 120);
    String prelude =
        PRELUDE.formatted(Math.max(1, limit.toSeconds()), MEMORY_BYTES, OPEN_FILES, passed);
    ProcessBuilder builder =
        new ProcessBuilder(List.of(python, "-I", "-c", prelude))
            .directory(folder.toFile())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD);
    builder.environment().clear();
    Process process = builder.start();
    try {
      process.getOutputStream().write(program.getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().close();
    } catch (IOException e) {
      // The process ended before it read everything; its exit code says so.
    }
    try {
      if (process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        return process.exitValue() == passed;
      }
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      process.destroyForcibly();
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> all = Files.walk(folder)) {
      for (Path one : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(one);
      }
    }
  }
}
