package dev.kvasir.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import dev.kvasir.format.AtomicFile;
import dev.kvasir.format.SafetensorsBytes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProfileTest {
  private static final Profile PROFILE =
      Profile.empty("abc")
          .with("mixkvq/thresholds", new float[] {1.5f, 0.75f}, 2)
          .withHalves("commvq:1/codes", new float[] {1, 2, 3, 1e-3f, 0, -7}, 2, 3)
          .withNote("mixkvq/how", "30 trials");

  @TempDir private Path folder;

  @Test
  void comesBackFromItsFile() {
    Path file = folder.resolve("p.safetensors");
    PROFILE.write(file);
    Profile read = Profile.open(file);
    assertThat(read.model()).isEqualTo("abc");
    assertThat(read.parts()).containsExactly("commvq:1", "mixkvq");
    assertThat(read.floats("mixkvq/thresholds", 2)).containsExactly(1.5f, 0.75f);
    assertThat(read.floats("commvq:1/codes", 2, 3))
        .containsExactly(1, 2, 3, Float.float16ToFloat(Float.floatToFloat16(1e-3f)), 0, -7);
    assertThat(read.shape("commvq:1/codes")).hasValue(new long[] {2, 3});
    assertThat(read.note("mixkvq/how")).hasValue("30 trials");
    assertThat(folder).isDirectoryNotContaining("glob:**.part");
  }

  @Test
  void formerNamesAreMappedToCurrentOnes() {
    Path file = folder.resolve("p.safetensors");
    Profile.empty("abc").with("pmkvq/widths", new float[] {2, 4}, 2).write(file);
    Profile read = Profile.open(file);
    assertThat(read.floats("layers/widths", 2)).containsExactly(2, 4);
    assertThat(read.parts()).containsExactly("layers");
  }

  @Test
  void theSamePartsGiveTheSameBytes() throws IOException {
    Path one = folder.resolve("one");
    Path two = folder.resolve("two");
    PROFILE.write(one);
    Profile.open(one)
        .without("mixkvq")
        .with("mixkvq/thresholds", new float[] {1.5f, 0.75f}, 2)
        .withNote("mixkvq/how", "30 trials")
        .write(two);
    assertThat(two).hasSameBinaryContentAs(one);
  }

  @Test
  void aPartIsTakenOutWithItsNotes() {
    Profile less = PROFILE.without("mixkvq");
    assertThat(less.has("mixkvq")).isFalse();
    assertThat(less.note("mixkvq/how")).isEmpty();
    assertThat(less.has("commvq:1")).isTrue();
    assertThat(PROFILE.has("mixkvq")).isTrue();
  }

  @Test
  void numbersAreReadAndWrittenInChunks() {
    float[][] chunks = {{1, 2}, {}, {3, 1e-3f, 0, -7}};
    Profile profile =
        Profile.empty("abc")
            .with("a/floats", Stream.of(chunks), 2, 3)
            .withHalves("a/halves", Stream.of(chunks), 2, 3);
    float half = Float.float16ToFloat(Float.floatToFloat16(1e-3f));
    assertThat(profile.floats("a/floats", 2, 3)).containsExactly(1, 2, 3, 1e-3f, 0, -7);
    assertThat(profile.floats("a/halves", 2, 3)).containsExactly(1, 2, 3, half, 0, -7);
    assertThat(profile.slice("a/floats", 1, 3, 2, 3)).containsExactly(2, 3, 1e-3f);
    assertThat(profile.slice("a/halves", 3, 3, 2, 3)).containsExactly(half, 0, -7);
    for (long columns : new long[] {2, 4}) {
      assertThatThrownBy(() -> profile.with("a/floats", Stream.of(chunks), 2, columns))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("'a/floats' of shape 2 x %d has other than %d numbers", columns, 2 * columns);
    }
  }

  @Test
  void refusesWhatDoesNotFit() {
    assertThatThrownBy(() -> PROFILE.requireModel("xyz", "some-model"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("profile: belongs to a model with fingerprint abc; some-model has xyz");
    assertThatThrownBy(() -> PROFILE.floats("mixkvq/thresholds", 3))
        .hasMessage("profile: 'mixkvq/thresholds' has shape [2]; expected [3]");
    assertThatThrownBy(() -> PROFILE.floats("mixkvq/nothing", 3))
        .hasMessage("profile: has no 'mixkvq/nothing'");
    Path file = folder.resolve("model.safetensors");
    AtomicFile.write(file, out -> SafetensorsBytes.write(List.of(), Map.of("format", "pt"), out));
    assertThatThrownBy(() -> Profile.open(file))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageEndingWith("is no profile of version 1; its metadata says kvasir.profile=null");
  }
}
