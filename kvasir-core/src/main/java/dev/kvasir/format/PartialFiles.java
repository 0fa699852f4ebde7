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
 * Files in the course of being written: {@code .NAME.PID.part} beside the one that they become. A
 * process that is killed meanwhile leaves its own.
 */
public final class PartialFiles {
  private static final Pattern PART = Pattern.compile("\\.(.+)\\.([0-9]{1,18})\\.part");

  /** A process of another machine that shares the folder is not to be seen, but what it writes. */
  private static final Duration GRACE_PERIOD = Duration.ofMinutes(1);

  private PartialFiles() {}

  /** Not a temporary file of the system's making, which only its owner could read. */
  static Path of(Path folder, Path file) {
    return folder.resolve(
        ".%s.%d.part".formatted(file.getFileName(), ProcessHandle.current().pid()));
  }

  /** Those that nobody writes any more; none where the folder cannot be read. */
  public static List<Path> abandoned(Path folder) {
    return Files.isDirectory(folder) ? abandonedIn(folder, PART) : List.of();
  }

  /** Removes what was left of earlier attempts to write a file, as far as that can be done. */
  static void removeAbandoned(Path folder, Path file) {
    Pattern own = Pattern.compile("\\.(%s)\\.([0-9]{1,18})\\.part".formatted(quoted(file)));
    for (Path part : abandonedIn(folder, own)) {
      try {
        Files.deleteIfExists(part);
      } catch (IOException e) {
        continue; // the next one who writes the file finds it too
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
      return false; // it has just been given its name
    }
  }

  /** By a process that lives and is not a later one of the same number. */
  private static boolean hasLiveWriter(long pid, Instant written) {
    Optional<ProcessHandle> writer = ProcessHandle.of(pid).filter(ProcessHandle::isAlive);
    return writer.isPresent()
        && writer.get().info().startInstant().map(begun -> begun.isBefore(written)).orElse(true);
  }
}
