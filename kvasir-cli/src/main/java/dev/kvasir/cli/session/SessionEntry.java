package dev.kvasir.cli.session;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.stream.Stream;

/**
 * A session on disk.
 *
 * @param name under which it is saved, or its file
 * @param file with the KV cache
 * @param messages file of a chat's messages; may not exist
 */
public record SessionEntry(String name, Path file, Path messages) {
  static SessionEntry ofFile(Path file) {
    String name = file.getFileName().toString();
    String stem =
        name.endsWith(SessionFolder.SESSION) ? name.substring(0, name.lastIndexOf('.')) : name;
    return new SessionEntry(
        file.toString(), file, file.resolveSibling(stem + SessionFolder.MESSAGES));
  }

  public boolean exists() {
    return Files.exists(file) || Files.exists(messages);
  }

  private Stream<Path> files() {
    return Stream.of(file, messages).filter(Files::isRegularFile);
  }

  long bytes() {
    return files().mapToLong(SessionEntry::size).sum();
  }

  /** Returns when either file was last modified. */
  Instant changedAt() {
    return files().map(SessionEntry::changedAt).max(Instant::compareTo).orElse(Instant.EPOCH);
  }

  void delete() {
    AtomicFile.delete(file);
    AtomicFile.delete(messages);
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  private static Instant changedAt(Path file) {
    try {
      return Files.getLastModifiedTime(file).toInstant();
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  private static InvalidInputException unreadable(Path file, IOException e) {
    return new InvalidInputException("%s: cannot be read".formatted(file), e);
  }
}
