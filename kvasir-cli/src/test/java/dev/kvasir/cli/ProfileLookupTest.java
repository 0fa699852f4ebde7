package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.choice.UserFolder;
import dev.kvasir.cli.arguments.ModelArguments;
import dev.kvasir.profile.Profile;
import dev.kvasir.runtime.BundledFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The profile of a model in a file, here a copy of the bundled one, when none is named. */
class ProfileLookupTest {
  @TempDir private Path folder;
  private Path model;

  @BeforeEach
  void copyTheModel() throws IOException {
    System.setProperty(UserFolder.PROPERTY, folder.resolve("home").toString());
    model = folder.resolve("m.gguf");
    try (InputStream bytes =
        ClassLoader.getSystemResourceAsStream("dev/kvasir/mini/kvasir-mini-q8_0.gguf")) {
      Files.copy(bytes, model);
    }
  }

  @AfterEach
  void useTheUsersFolder() {
    System.clearProperty(UserFolder.PROPERTY);
  }

  private CommandRun generate() {
    return CommandRun.of("generate", "--model", model.toString(), "--kv", "mead:2", "Once");
  }

  @Test
  void aModelWithoutAProfileSaysWhichCommandMakesOne() {
    generate()
        .isRefusedWith(
            "'mead:2' needs a calibrated profile",
            "'kvasir calibrate --kv mead --model MODEL' makes one",
            "minutes");
  }

  @Test
  void aProfileBesideTheModelIsUsed() {
    Profile bundled = BundledFiles.profile().orElseThrow();
    bundled
        .withNote(Profile.originNote("mead:tokens"), "3 texts")
        .withNote(Profile.checkNote("mead:tokens"), "mead:2 keeps 4 of 9 answers")
        .write(folder.resolve("m.profile"));
    CommandRun inspect = CommandRun.of("inspect", "--model", model.toString(), "--kv", "mead:2");
    assertThat(inspect.succeeds().out())
        .contains("m.profile: mead:centroids, mead:first, mead:off, mead:tokens")
        .contains("made of", "mead:tokens: 3 texts")
        .contains("mead:tokens: mead:2 keeps 4 of 9 answers; by an earlier version")
        .containsPattern(
            "bits per value for one sequence, \\d\\.\\d\\d for 4, \\d\\.\\d\\d for 16");
  }

  @Test
  void whatCalibrationSavedForTheModelIsUsed() throws IOException {
    String fingerprint = new ModelArguments().fingerprint();
    Path saved = UserFolder.ofThisProcess().profile(fingerprint);
    Files.createDirectories(saved.getParent());
    Profile.empty(fingerprint).with("other/numbers", new float[] {1}, 1).write(saved);
    generate().isRefusedWith(fingerprint + ".profile holds none");
  }

  @Test
  void theBundledModelNeedsAFile() {
    CommandRun.of("calibrate", "--kv", "mead").isRefusedWith("--out is missing");
  }
}
