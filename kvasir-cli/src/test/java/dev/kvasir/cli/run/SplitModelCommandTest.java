package dev.kvasir.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands treat a model in several files like the same model in one. */
class SplitModelCommandTest {
  @TempDir Path folder;
  private Path whole;
  private List<Path> parts;

  @BeforeEach
  void writeFiles() throws IOException {
    whole = BundledParts.writeWhole(folder.resolve("mini.gguf"));
    parts = BundledParts.write(folder, 3);
  }

  @Test
  void inspectingShowsTheSame() {
    String expected = of(whole, "inspect", "--tensors", "--kv", "kivi:2");
    for (Path part : parts) {
      assertThat(of(part, "inspect", "--tensors", "--kv", "kivi:2")).isEqualTo(expected);
    }
  }

  @Test
  void textAndTokensAreTheSame() {
    String text = "Once upon a time";
    assertThat(of(parts.getFirst(), "generate", "--temperature=0", "--max-tokens=8", text))
        .isEqualTo(of(whole, "generate", "--temperature=0", "--max-tokens=8", text));
    assertThat(of(parts.getLast(), "tokenize", text)).isEqualTo(of(whole, "tokenize", text));
  }

  @Test
  void aMissingPartIsRefused() throws IOException {
    Files.delete(parts.get(1));
    CommandRun.of("inspect", "--model", parts.getFirst().toString())
        .isRefusedWith("mini-00002-of-00003.gguf: no such file; ", " is one of 3 parts");
  }

  /** Returns the output of a command, with all file names made equal. */
  private String of(Path model, String command, String... arguments) {
    String[] all = new String[arguments.length + 3];
    all[0] = command;
    all[1] = "--model";
    all[2] = model.toString();
    System.arraycopy(arguments, 0, all, 3, arguments.length);
    String out = CommandRun.of(all).succeeds().out();
    return out.replace(whole.toString(), "FILE").replace(parts.getFirst().toString(), "FILE");
  }
}
