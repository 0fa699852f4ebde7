package dev.kvasir.format;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** Writes files atomically: after a failure the old content remains. */
public final class AtomicFile {
  /** Writes the content of a file of any length. */
  @FunctionalInterface
  public interface Content {
    void writeTo(WritableByteChannel out) throws IOException;
  }

  private interface Writing {
    void to(Path file) throws IOException;
  }

  private AtomicFile() {}

  /** Writes a temporary file in the same folder, then renames it. */
  public static void write(Path file, String text) {
    writeAtomically(file, partFile -> Files.writeString(partFile, text));
  }

  /** Writes content that may not fit into memory. */
  public static void write(Path file, Content content) {
    writeAtomically(
        file,
        partFile -> {
          try (FileChannel out = FileChannel.open(partFile, CREATE, TRUNCATE_EXISTING, WRITE)) {
            content.writeTo(out);
          }
        });
  }

  private static void writeAtomically(Path file, Writing writing) {
    try {
      Path partFile = PartialFiles.of(folderOf(file), file);
      try {
        writing.to(partFile);
        move(partFile, file);
      } finally {
        Files.deleteIfExists(partFile);
      }
      PartialFiles.removeAbandoned(folderOf(file), file);
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be written: %s".formatted(file, reason(e)), e);
    }
  }

  /** Creates the folder of a file, and the folders above it, if they are missing. */
  public static void createFolderOf(Path file) {
    try {
      Files.createDirectories(folderOf(file));
    } catch (IOException e) {
      throw new InvalidInputException(
          "%s: its folder cannot be created: %s".formatted(file, reason(e)), e);
    }
  }

  /** Rejects a path that cannot be written, before the work whose result it should hold. */
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

  /** Deletes the file if it exists. */
  public static void delete(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new InvalidInputException(
          "%s: cannot be deleted, %s".formatted(file, e.getMessage()), e);
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

  /** Returns the reason; a plain exception has the system's message, such as a full disk. */
  private static String reason(IOException e) {
    return e.getClass() == IOException.class
        ? e.getMessage()
        : e.getClass().getSimpleName().replace("Exception", "");
  }
}
