package dev.kvasir.cli.session;

import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The folder of saved sessions. */
public final class FolderArguments {
  @Option(
      names = "--dir",
      paramLabel = "DIR",
      description =
          "Folder of saved sessions. Default: sessions in $KVASIR_HOME, or"
              + " kvasir/sessions in $XDG_DATA_HOME or ~/.local/share.")
  private Path folder;

  public SessionFolder folder() {
    return folder == null ? SessionFolder.ofUser() : new SessionFolder(folder);
  }
}
