package dev.kvasir.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.Run;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenizeTest {
  private static final String TEXT = "Once upon a time,\nžluťoučký kůň 🐴\n";

  @TempDir Path folder;

  @Test
  void idsAreOneLineAndDecodeToExactlyTheText() {
    Run ids = Run.of("tokenize", TEXT).succeeds();
    assertThat(ids.out()).matches("\\d+( \\d+)*\\R");
    assertThat(Run.withInput(TEXT, "tokenize").out()).isEqualTo(ids.out());
    assertThat(Run.withInput(TEXT, "tokenize", "-").out()).isEqualTo(ids.out());
    assertThat(Run.withInput(ids.out(), "tokenize", "--decode").succeeds().out()).isEqualTo(TEXT);
    assertThat(Run.of("tokenize", "--decode", ids.out().strip().replace(" ", ",")).out())
        .isEqualTo(TEXT);
  }

  @Test
  void aVocabularyWithoutWeightsIsEnough() throws IOException {
    String model = VocabularyFile.write(folder.resolve("letters.gguf"), null).toString();
    assertThat(Run.of("tokenize", "--model", model, "ab").succeeds().out()).isEqualTo("1 7 5\n");
    assertThat(Run.of("tokenize", "--model", model, "--no-special", "ab").out()).isEqualTo("7 5\n");
    assertThat(Run.of("tokenize", "--model", model, "--decode", "1 7 5").out()).isEqualTo("<s> ab");
    assertThat(Run.of("tokenize", "--model", model, "--decode", "--no-special", "1 7 5").out())
        .isEqualTo(" ab");
  }

  @Test
  void badIdsAreNamedWithTheirBound() {
    Run.of("tokenize", "--decode", "1 two").isRefusedWith("'two'", "from 0 to 8191");
    Run.of("tokenize", "--decode", "8192").isRefusedWith("'8192'", "from 0 to 8191");
    Run.of("tokenize", "--decode", "--", "-1").isRefusedWith("'-1'");
    Run.of("tokenize", "--decode", "99999999999").isRefusedWith("'99999999999'");
  }

  @Test
  void atATerminalATextIsNeeded() {
    Run.atTerminal("tokenize").isRefusedWith("no text was given", "kvasir tokenize \"Once");
    Run.atTerminal("tokenize", "--decode").isRefusedWith("kvasir tokenize --decode");
  }
}
