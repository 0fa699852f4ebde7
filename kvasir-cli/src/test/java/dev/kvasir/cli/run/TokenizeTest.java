package dev.kvasir.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenizeTest {
  private static final String TEXT = "Once upon a time,\nžluťoučký kůň 🐴\n";

  @TempDir Path folder;

  @Test
  void idsAreOneLineAndDecodeToExactlyTheText() {
    CommandRun ids = CommandRun.of("tokenize", TEXT).succeeds();
    assertThat(ids.out()).matches("\\d+( \\d+)*\\R");
    assertThat(CommandRun.withInput(TEXT, "tokenize").out()).isEqualTo(ids.out());
    assertThat(CommandRun.withInput(TEXT, "tokenize", "-").out()).isEqualTo(ids.out());
    assertThat(CommandRun.withInput(ids.out(), "tokenize", "--decode").succeeds().out())
        .isEqualTo(TEXT);
    assertThat(CommandRun.of("tokenize", "--decode", ids.out().strip().replace(" ", ",")).out())
        .isEqualTo(TEXT);
  }

  @Test
  void aVocabularyWithoutWeightsIsEnough() throws IOException {
    String model = VocabularyFile.write(folder.resolve("letters.gguf"), null).toString();
    assertThat(CommandRun.of("tokenize", "--model", model, "ab").succeeds().out())
        .isEqualTo("1 7 5\n");
    assertThat(CommandRun.of("tokenize", "--model", model, "--no-special", "ab").out())
        .isEqualTo("7 5\n");
    assertThat(CommandRun.of("tokenize", "--model", model, "--decode", "1 7 5").out())
        .isEqualTo("<s> ab");
    assertThat(
            CommandRun.of("tokenize", "--model", model, "--decode", "--no-special", "1 7 5").out())
        .isEqualTo(" ab");
  }

  @Test
  void badIdsAreNamedWithTheirBound() {
    CommandRun.of("tokenize", "--decode", "1 two").isRefusedWith("'two'", "from 0 to 8191");
    CommandRun.of("tokenize", "--decode", "8192").isRefusedWith("'8192'", "from 0 to 8191");
    CommandRun.of("tokenize", "--decode", "--", "-1").isRefusedWith("'-1'");
    CommandRun.of("tokenize", "--decode", "99999999999").isRefusedWith("'99999999999'");
  }

  @Test
  void atATerminalATextIsNeeded() {
    CommandRun.atTerminal("tokenize").isRefusedWith("no text was given", "kvasir tokenize \"Once");
    CommandRun.atTerminal("tokenize", "--decode").isRefusedWith("kvasir tokenize --decode");
  }
}
