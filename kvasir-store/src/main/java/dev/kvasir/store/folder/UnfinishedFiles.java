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
 * Files that are being written, named {@code PID-RANDOM.part}. A rename publishes a complete file
 * atomically. What a killed process leaves behind is deleted by another process after an hour.
 */
final class UnfinishedFiles {
  /** Far longer than a write takes, for owners that this process cannot see. */
  static final Duration STALE_AFTER = Duration.ofHours(1);

  private static final Pattern OURS = Pattern.compile("([0-9]{1,18})-[0-9a-f]{16}\\.part");

  private final Path folder;

  UnfinishedFiles(Path folder) {
    this.folder = folder;
  }

  /**
   * Writes a file under a temporary name and renames it. Neither is forced to disk: writes of a
   * killed process persist, and after a power failure checksums reveal torn files.
   */
  void write(Path file, byte[] bytes) throws IOException {
    Path part = folder.resolve(newName());
    try {
      fill(part, bytes);
      Files.createDirectories(file.getParent());
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException | RuntimeException | Error e) {
      // A write needs native memory, which may be exhausted like a disk.
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
      // It is deleted as stale in an hour.
    }
  }

  /** Deletes files that are stale and whose owner has ended. */
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
      // Its owner completed it, or another process deleted it first.
    }
  }

  /** Returns whether the owner is alive. A process that started later merely reuses the number. */
  private static boolean isOwnerAlive(long pid, Instant written) {
    return ProcessHandle.of(pid)
        .filter(owner -> owner.info().startInstant().map(written::isAfter).orElse(true))
        .isPresent();
  }
}
