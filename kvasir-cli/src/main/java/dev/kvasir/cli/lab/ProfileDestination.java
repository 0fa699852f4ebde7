package dev.kvasir.cli.lab;

import dev.kvasir.choice.UserFolder;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.cli.arguments.ModelOutline;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import java.nio.file.Path;

/** Where a command saves the profile that it makes. */
final class ProfileDestination {
  private ProfileDestination() {}

  /**
   * Rejects a missing {@code --out} with the bundled model.
   *
   * @param out file of the option; null if it is missing
   */
  static void check(Path out, ModelArguments model) {
    if (out == null && model.isBundled()) {
      throw new InvalidInputException(
          "--out is missing; expected the profile to write, because the bundled model uses its own");
    }
  }

  /**
   * Returns the file to write: without {@code --out}, where every command finds it by the model's
   * fingerprint.
   *
   * @param out file of the option; null if it is missing
   */
  static Path choose(Path out, ModelOutline outline) {
    Path chosen = out;
    if (chosen == null) {
      chosen = UserFolder.ofThisProcess().profile(outline.fingerprint());
      AtomicFile.createFolderOf(chosen);
    }
    AtomicFile.checkWritable(chosen);
    return chosen;
  }
}
