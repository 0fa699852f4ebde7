package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** All commands reject the same broken models with the same messages. */
class ModelFileTest {
  @TempDir Path folder;
  private Path wrongMagic;
  private Path truncated;

  @BeforeEach
  void writeFiles() throws IOException {
    wrongMagic = Files.writeString(folder.resolve("wrong.gguf"), "not a model at all");
    truncated = Files.write(folder.resolve("short.gguf"), "GGUF\3\0\0\0\7\0".getBytes());
  }

  @ParameterizedTest
  @ValueSource(strings = {"generate", "chat", "inspect", "tokenize", "eval"})
  void brokenModelsAreRefused(String command) {
    refuse(
        command,
        folder.resolve("none.gguf"),
        "none.gguf: no such file; expected a GGUF file, a folder or a name such as hf:");
    // An empty folder lacks several files; each command names the first one it needs.
    refuse(command, folder, folder.toString(), ".json: no such file");
    refuse(command, wrongMagic, "wrong.gguf", "GGUF");
    refuse(command, truncated, "short.gguf");
  }

  private static void refuse(String command, Path model, String... parts) {
    CommandRun.withInput("Hello", command, "--model", model.toString()).isRefusedWith(parts);
  }

  @Test
  void verboseShowsTheTrace() {
    CommandRun run = CommandRun.of("inspect", "--verbose", "--model", wrongMagic.toString());
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .startsWith("kvasir: ")
        .contains("InvalidInputException", "\tat dev.kvasir");
    assertThat(CommandRun.of("generate", "--verbose", "--nothing").err()).contains("\tat picocli");
  }
}
