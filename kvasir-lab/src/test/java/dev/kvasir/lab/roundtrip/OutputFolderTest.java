package dev.kvasir.lab.roundtrip;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputFolderTest {
  @TempDir Path folder;

  @Test
  void folderIsCreatedWithTheFirstArray() {
    Path deep = folder.resolve("a").resolve("b");
    OutputFolder out = OutputFolder.of(deep, List.of());
    assertThat(deep).doesNotExist();
    out.begin("keys.npy", 1).close();
    assertThat(deep).isEmptyDirectory();
  }

  @Test
  void fileIsRejectedAsFolder() throws IOException {
    Path file = Files.writeString(folder.resolve("file"), "");
    assertThatThrownBy(() -> OutputFolder.of(file, List.of()))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(file + ": is a file; a folder was expected");
    OutputFolder below = OutputFolder.of(file.resolve("below"), List.of());
    assertThatThrownBy(() -> below.begin("keys.npy", 1))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageEndingWith("below: cannot be made a folder");
  }

  @Test
  void inputIsNeverOverwritten() throws IOException {
    Path input = Files.writeString(folder.resolve("keys.npy"), "");
    Path around = folder.resolve("..").resolve(folder.getFileName());
    assertThatThrownBy(() -> OutputFolder.of(around, List.of(input)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("would overwrite the input " + input);
    assertThat(OutputFolder.of(folder.resolve("back"), List.of(input))).isNotNull();
  }
}
