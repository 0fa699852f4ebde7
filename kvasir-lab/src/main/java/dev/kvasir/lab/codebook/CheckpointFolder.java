package dev.kvasir.lab.codebook;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A folder of our own beside a result, with what is kept until that is finished. */
final class CheckpointFolder {
  private CheckpointFolder() {}

  /**
   * Removes it with all its files, also those that runs left which were killed or wanted something
   * else. A folder that somebody made in it stays, and it with that.
   */
  static void delete(Path folder) {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try {
      for (Path file : files(folder)) {
        Files.deleteIfExists(file);
      }
      Files.deleteIfExists(folder);
    } catch (DirectoryNotEmptyException e) {
      return; // not ours to remove
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be removed".formatted(folder), e);
    }
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.filter(Files::isRegularFile).toList();
    }
  }
}
