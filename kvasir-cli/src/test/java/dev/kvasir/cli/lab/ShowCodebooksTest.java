package dev.kvasir.cli.lab;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import kvasir.tools.ShallowModel;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ShowCodebooksTest {
  @TempDir private static Path models;
  private static String shallow;

  @BeforeAll
  static void write() {
    shallow = ShallowModel.write(models.resolve("shallow.gguf")).toString();
  }

  @Tag("thorough")
  @Test
  void everyTextIsTestedOnEveryOther() {
    CommandRun run =
        CommandRun.of(
                "codebooks",
                "--model",
                shallow,
                "--layer",
                "1",
                "--tables",
                "texts",
                "--tokens",
                "256")
            .succeeds();
    assertThat(run.out())
        .contains("5 stages   tested on     keys  values", "prose and tasks tasks ")
        .hasLineCount(8);
  }

  @Test
  void codesForFewerPairsAreComparedWithCodesForAll(@TempDir Path folder) throws IOException {
    Path json = folder.resolve("left.json");
    CommandRun run =
        CommandRun.of(
                "codebooks",
                "--model",
                shallow,
                "--layer",
                "1",
                "--tables",
                "pairs",
                "--tokens",
                "256",
                "--json",
                json.toString())
            .succeeds();
    assertThat(run.out())
        .contains("              8       1   0.75", "             32       4   0.75");
    assertThat(Files.readString(json)).contains("\"keys with codes of 32 pairs, 0.75 bits\":0.");
  }

  @Test
  void whatTheBundledProfileHoldsIsShownForEveryLayer() {
    CommandRun run =
        CommandRun.of("codebooks", "--tables", "profile", "--tokens", "256").succeeds();
    assertThat(run.out()).contains("commvq:1", "commvq:2", "\n    7  ").hasLineCount(20);
  }

  @Test
  void whatCannotBeShownIsRefused() {
    CommandRun.of("codebooks", "--tables", "rows")
        .isRefusedWith("--tables is 'rows'", "stages, pairs");
    CommandRun.of("codebooks", "--tokens", "1").isRefusedWith("--tokens is 1");
    CommandRun.of("codebooks", "--tables", "encoder", "--tokens", "256")
        .isRefusedWith("--tokens is 256; expected 336 to 1048576");
    CommandRun.of("codebooks", "--layer", "8").isRefusedWith("--layer is 8; expected 0 to 7");
  }
}
