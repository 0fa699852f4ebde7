package dev.kvasir.cli.arguments;

import dev.kvasir.cli.terminal.Streams;
import dev.kvasir.hub.HubReference;
import dev.kvasir.hub.ModelHub;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A model that was typed: a path, or a name such as {@code hf:owner/repo:Q4_K_M}, which is
 * downloaded when its path is first needed.
 */
public final class ModelLocation {
  private final String typed;
  private final Streams streams;
  private Path path;

  /**
   * @param streams show the progress of a download
   */
  public ModelLocation(String typed, Streams streams) {
    this.typed = typed;
    this.streams = streams;
  }

  /** A file or folder, which needs no download. */
  ModelLocation(Path path) {
    this.typed = path.toString();
    this.streams = null;
    this.path = path;
  }

  /** Returns the file or folder. */
  public synchronized Path path() {
    if (path == null) {
      try (DownloadReporter reporter = new DownloadReporter(streams)) {
        path = ModelHub.resolve(typed, reporter);
      }
    }
    return path;
  }

  /** Returns a name for files about the model: that of its file, folder or repository. */
  public String shortName() {
    boolean isRepository = HubReference.isReference(typed) && Files.isDirectory(path());
    return isRepository
        ? HubReference.parse(typed).repo()
        : path().toAbsolutePath().normalize().getFileName().toString().replaceAll("\\.gguf$", "");
  }
}
