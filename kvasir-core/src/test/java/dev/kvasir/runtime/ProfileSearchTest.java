package dev.kvasir.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.choice.UserFolder;
import dev.kvasir.profile.Profile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProfileSearchTest {
  private static final String FINGERPRINT = "abc";

  @TempDir private Path folder;
  private Path models;
  private UserFolder user;

  @BeforeEach
  void makeFolders() throws IOException {
    models = Files.createDirectories(folder.resolve("models"));
    user = new UserFolder(folder.resolve("home"));
    Files.createDirectories(user.profile(FINGERPRINT).getParent());
  }

  private ProfileSearch search(Path model) {
    return ProfileSearch.of(model, FINGERPRINT, user);
  }

  private static Path written(Path file, String fingerprint) {
    Profile.empty(fingerprint).with("part/numbers", new float[] {1}, 1).write(file);
    return file;
  }

  @Test
  void aModelWithoutAProfileHasNone() {
    ProfileSearch none = search(models.resolve("m.gguf"));
    assertThat(none.file()).isEmpty();
    assertThat(none.profile()).isEmpty();
    assertThat(none.rejected()).isEmpty();
  }

  @Test
  void theNearestFileCounts() {
    Path model = models.resolve("m.gguf");
    Path ofUser = written(user.profile(FINGERPRINT), FINGERPRINT);
    assertThat(search(model).file()).hasValue(ofUser);
    Path ofFolder = written(models.resolve("kvasir.profile"), FINGERPRINT);
    assertThat(search(model).file()).hasValue(ofFolder);
    Path beside = written(models.resolve("m.profile"), FINGERPRINT);
    assertThat(search(model).file()).hasValue(beside);
    assertThat(search(model).profile().orElseThrow().parts()).containsExactly("part");
  }

  @Test
  void aFolderHoldsItsProfile() {
    Path ofFolder = written(models.resolve("kvasir.profile"), FINGERPRINT);
    assertThat(search(models).file()).hasValue(ofFolder);
  }

  @Test
  void partsOfAModelShareAProfile() {
    Path beside = written(models.resolve("m.profile"), FINGERPRINT);
    assertThat(search(models.resolve("m-00002-of-00003.gguf")).file()).hasValue(beside);
  }

  @Test
  void filesThatDoNotFitAreNamedAndSkipped() throws IOException {
    Path model = models.resolve("m.gguf");
    written(models.resolve("m.profile"), "other");
    Files.writeString(models.resolve("kvasir.profile"), "no profile");
    Path ofUser = written(user.profile(FINGERPRINT), FINGERPRINT);
    ProfileSearch found = search(model);
    assertThat(found.file()).hasValue(ofUser);
    assertThat(found.rejected()).hasSize(2);
    assertThat(found.rejected().getFirst())
        .contains("m.profile is not used", "fingerprint other", "this one has abc");
    assertThat(found.rejected().getLast()).contains("kvasir.profile is not used");
  }
}
