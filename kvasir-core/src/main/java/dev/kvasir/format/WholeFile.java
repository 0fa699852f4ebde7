package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A file that is either all there or as it was before. */
public final class WholeFile {
  private WholeFile() {}

  /** Writes beside the file and then gives it its name. */
  public static void write(Path file, String text) {
    write(file, text.getBytes(StandardCharsets.UTF_8));
  }

  public static void write(Path file, byte[] bytes) {
    try {
      // Not a temporary file of the system's making, which only its owner could read.
      String name = ".%s.%d.part".formatted(file.getFileName(), ProcessHandle.current().pid());
      Path beside = folderOf(file).resolve(name);
      try {
        Files.write(beside, bytes);
        move(beside, file);
      } finally {
        Files.deleteIfExists(beside);
      }
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be written: %s".formatted(file, reason(e)), e);
    }
  }

  /** Refuses a place that nothing can be written to, before work begins whose result goes there. */
  public static void checkWritable(Path file) {
    Path folder = folderOf(file);
    if (!Files.isDirectory(folder)) {
      throw new InvalidInputException("%s: its folder %s is missing".formatted(file, folder));
    }
    if (Files.isDirectory(file)) {
      throw new InvalidInputException("%s: is a folder; a file was expected".formatted(file));
    }
    if (!Files.isWritable(Files.exists(file) ? file : folder)) {
      throw new InvalidInputException("%s: cannot be written".formatted(file));
    }
  }

  private static Path folderOf(Path file) {
    Path folder = file.toAbsolutePath().getParent();
    return folder == null ? file.toAbsolutePath() : folder;
  }

  private static void move(Path from, Path to) throws IOException {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException e) {
      Files.move(from, to, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private static String reason(IOException e) {
    return e.getClass().getSimpleName().replace("Exception", "");
  }
}
