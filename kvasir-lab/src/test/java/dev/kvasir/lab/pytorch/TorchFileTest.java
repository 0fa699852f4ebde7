package dev.kvasir.lab.pytorch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TorchFileTest {
  @TempDir private Path folder;

  @Test
  void readsTensorsOfADictionary() throws IOException {
    Path file = folder.resolve("a.pt");
    new TorchWriter()
        .bytes('}')
        .remember()
        .bytes('(')
        .text("error")
        .decimal(0.25)
        .text("theta")
        .matrix(new float[] {1, 2, 3, 4, 5, 6}, 2, 3)
        .text("transposed")
        .matrix(new float[] {1, 2, 3, 4, 5, 6}, 3, 2, 1, 3)
        .bytes('u')
        .write(file);
    try (TorchFile read = TorchFile.open(file)) {
      assertThat(read.member(read.root(), "error")).isEqualTo(0.25);
      assertThat(read.floats(read.member(read.root(), "theta"), "theta", 2, 3))
          .containsExactly(1, 2, 3, 4, 5, 6);
      assertThat(read.floats(read.member(read.root(), "transposed"), "transposed", 3, 2))
          .containsExactly(1, 4, 2, 5, 3, 6);
      assertThatThrownBy(() -> read.floats(read.member(read.root(), "theta"), "theta", 3, 3))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining("'theta' has shape [2, 3]; expected [3, 3]");
      assertThatThrownBy(() -> read.member(read.root(), "steps"))
          .hasMessageContaining("has no 'steps'");
    }
  }

  /** A pickle that would call a function of the system. */
  @Test
  void refusesNamesThatAreNoTensors() throws IOException {
    Path file = folder.resolve("b.pt");
    new TorchWriter().name("os", "system").bytes('(').text("true").bytes('t', 'R').write(file);
    assertThatThrownBy(() -> TorchFile.open(file))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("has the name 'os.system'");
  }

  @Test
  void refusesDamagedFiles() throws IOException {
    Path file = Files.write(folder.resolve("c.pt"), new byte[] {1, 2, 3});
    assertThatThrownBy(() -> TorchFile.open(file)).isInstanceOf(InvalidInputException.class);
    Path empty = folder.resolve("d.pt");
    new TorchWriter().bytes('u').write(empty);
    assertThatThrownBy(() -> TorchFile.open(empty))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("a damaged pickle");
    Path beyond = folder.resolve("e.pt");
    new TorchWriter().matrix(new float[3], 2, 3).write(beyond);
    try (TorchFile read = TorchFile.open(beyond)) {
      assertThatThrownBy(() -> read.floats(read.root(), "theta", 2, 3))
          .hasMessageContaining("'theta' ends early");
    }
  }
}
