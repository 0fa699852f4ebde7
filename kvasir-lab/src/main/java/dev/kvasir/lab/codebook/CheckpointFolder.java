package dev.kvasir.lab.codebook;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A folder next to a result with checkpoints of the work that produces it. */
final class CheckpointFolder {
  private CheckpointFolder() {}

  /**
   * Deletes the folder with all its files, including those of killed or different runs. It keeps
   * subfolders that someone else created, and then the folder too.
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
      return; // contains a subfolder of someone else
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
