package dev.kvasir.format;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Partially written files: {@code .NAME.PID.part} in the folder of the final file. A killed process
 * leaves its file behind.
 */
public final class PartialFiles {
  private static final Pattern PART = Pattern.compile("\\.(.+)\\.([0-9]{1,18})\\.part");

  /** Processes of other machines on a shared folder are not visible, but their writes are. */
  private static final Duration GRACE_PERIOD = Duration.ofMinutes(1);

  private PartialFiles() {}

  /** Returns the path of a partial file. Unlike a system temporary file, others may read it. */
  static Path of(Path folder, Path file) {
    return folder.resolve(
        ".%s.%d.part".formatted(file.getFileName(), ProcessHandle.current().pid()));
  }

  /** Returns abandoned partial files; empty if the folder cannot be read. */
  public static List<Path> abandoned(Path folder) {
    return Files.isDirectory(folder) ? abandonedIn(folder, PART) : List.of();
  }

  /** Deletes abandoned partial files of earlier attempts to write a file, as far as possible. */
  static void removeAbandoned(Path folder, Path file) {
    Pattern own = Pattern.compile("\\.(%s)\\.([0-9]{1,18})\\.part".formatted(quoted(file)));
    for (Path part : abandonedIn(folder, own)) {
      try {
        Files.deleteIfExists(part);
      } catch (IOException e) {
        continue; // the next writer of the file retries
      }
    }
  }

  private static String quoted(Path file) {
    return Pattern.quote(file.getFileName().toString());
  }

  private static List<Path> abandonedIn(Path folder, Pattern names) {
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> isAbandoned(file, names)).sorted().toList();
    } catch (IOException | UncheckedIOException e) {
      return List.of();
    }
  }

  private static boolean isAbandoned(Path file, Pattern names) {
    Matcher name = names.matcher(file.getFileName().toString());
    if (!name.matches()) {
      return false;
    }
    try {
      Instant written = Files.getLastModifiedTime(file).toInstant();
      return written.isBefore(Instant.now().minus(GRACE_PERIOD))
          && !hasLiveWriter(Long.parseLong(name.group(2)), written);
    } catch (IOException e) {
      return false; // it was renamed just now
    }
  }

  /** Returns whether the process lives and is not a later one with the same id. */
  private static boolean hasLiveWriter(long pid, Instant written) {
    Optional<ProcessHandle> writer = ProcessHandle.of(pid).filter(ProcessHandle::isAlive);
    return writer.isPresent()
        && writer
            .get()
            .info()
            .startInstant()
            .map(started -> started.isBefore(written))
            .orElse(true);
  }
}
