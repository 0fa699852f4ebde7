package dev.kvasir.store.folder;

import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Files that are being written, {@code PID-RANDOM.part}. A file gets its name when it is whole, by
 * a rename, which a reader sees done or not at all. What a process leaves here when it is killed is
 * removed by another, after an hour.
 */
final class UnfinishedFiles {
  /** Far longer than a file takes to write, for owners whom this process cannot see. */
  static final Duration STALE_AFTER = Duration.ofHours(1);

  private static final Pattern OURS = Pattern.compile("([0-9]{1,18})-[0-9a-f]{16}\\.part");

  private final Path folder;

  UnfinishedFiles(Path folder) {
    this.folder = folder;
  }

  /**
   * Writes a file under a name that no reader looks for, then gives it its own. Neither is forced
   * to the disk: what a killed process has written stays, and after a loss of power a reader finds
   * what is torn by its checksums.
   */
  void write(Path file, byte[] bytes) throws IOException {
    Path part = folder.resolve(newName());
    try {
      fill(part, bytes);
      Files.createDirectories(file.getParent());
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException | RuntimeException | Error e) {
      // A write takes memory outside the heap, which may be used up as a disk may.
      discard(part);
      throw e;
    }
  }

  private void fill(Path part, byte[] bytes) throws IOException {
    Files.createDirectories(folder);
    try (FileOutputStream out = new FileOutputStream(part.toFile())) {
      out.write(bytes);
    }
  }

  private static String newName() {
    return "%d-%016x.part"
        .formatted(ProcessHandle.current().pid(), ThreadLocalRandom.current().nextLong());
  }

  private static void discard(Path part) {
    try {
      Files.deleteIfExists(part);
    } catch (IOException e) {
      // It is old in an hour.
    }
  }

  /** Removes what is old and has no living owner. */
  void clear() throws IOException {
    Instant limit = Instant.now().minus(STALE_AFTER);
    for (Path part : BlobFiles.children(folder)) {
      Matcher name = OURS.matcher(part.getFileName().toString());
      if (name.matches()) {
        clear(part, Long.parseLong(name.group(1)), limit);
      }
    }
  }

  private static void clear(Path part, long pid, Instant limit) throws IOException {
    try {
      Instant written = Files.getLastModifiedTime(part).toInstant();
      if (written.isBefore(limit) && !isOwnerAlive(pid, written)) {
        Files.deleteIfExists(part);
      }
    } catch (NoSuchFileException e) {
      // Its owner has finished it, or another process was faster.
    }
  }

  /** Whether the process still lives: one that began later has only got its number. */
  private static boolean isOwnerAlive(long pid, Instant written) {
    return ProcessHandle.of(pid)
        .filter(owner -> owner.info().startInstant().map(written::isAfter).orElse(true))
        .isPresent();
  }
}
