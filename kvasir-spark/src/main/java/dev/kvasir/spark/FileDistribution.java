package dev.kvasir.spark;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.lab.work.TaskInput;
import dev.kvasir.lab.work.TaskInputs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Files to send to executors under their own names. Spark sends a symbolic link under the name of
 * its target, which in Hugging Face caches is a hash. Such a file gets a hard link next to its
 * target for as long as executors may request it.
 */
final class FileDistribution implements AutoCloseable {
  private final List<Path> files = new ArrayList<>();
  private final List<Path> links = new ArrayList<>(); // each in a folder of its own

  void add(TaskInputs inputs) {
    for (TaskInput input : inputs.all()) {
      input.files().values().forEach(this::add);
    }
  }

  /** Returns the files; Spark serves each under its file name. */
  List<Path> files() {
    return files;
  }

  private void add(Path file) {
    Path content = content(file);
    files.add(content.getFileName().equals(file.getFileName()) ? content : linked(content, file));
  }

  private static Path content(Path file) {
    try {
      return file.toRealPath();
    } catch (IOException e) {
      throw new InvalidInputException("%s: cannot be read".formatted(file), e);
    }
  }

  private Path linked(Path content, Path file) {
    try {
      Path folder = Files.createTempDirectory(content.getParent(), "kvasir-ship-");
      Path link = folder.resolve(file.getFileName());
      links.add(link);
      return Files.createLink(link, content);
    } catch (IOException | UnsupportedOperationException e) { // not every file system has links
      throw new InvalidInputException(
          "%s: is a link to a file of another name, and cannot be linked next to it (%s); expected"
                  .formatted(file, e)
              + " the file itself for --ship",
          e);
    }
  }

  @Override
  public void close() {
    for (Path link : links) {
      try {
        Files.deleteIfExists(link);
        Files.deleteIfExists(link.getParent());
      } catch (IOException e) {
        // An extra hard link takes no space.
      }
    }
    links.clear();
  }
}
