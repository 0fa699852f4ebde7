package dev.kvasir.lab.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.error.InvalidInputException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsFileTest {
  @TempDir private Path folder;

  private static void write(Path file) {
    ResultsFile.at(file).write(Examples.evaluation("small"), Examples.PROVENANCE);
  }

  @Test
  void aNewDocumentHoldsTheTableAndHowItWasMeasured() {
    Path file = folder.resolve("results.md");
    write(file);
    assertThat(file)
        .content()
        .startsWith(
            "# Results\n\n" + ResultsFile.BEGIN + "\n\n| cache | bits | KV MiB | tok/s | ppl |")
        .contains("| `kivi:2` | 2.50 | 3.75 | 90 | 24.00↓<br><sub>22.32-25.92</sub> |")
        .contains("- Seed: `1`", "- Commit: `c0ffee`", "- Date: `2026-01-02 03:04 UTC`")
        .contains("- Command: `kvasir eval --report r.html`")
        .endsWith(ResultsFile.END + "\n");
  }

  @Test
  void whatSurroundsTheTableStays() throws IOException {
    Path file = folder.resolve("results.md");
    Files.writeString(
        file, "Before.\n%s\nformer\n%s\nAfter.\n".formatted(ResultsFile.BEGIN, ResultsFile.END));
    write(file);
    String once = Files.readString(file);
    assertThat(once)
        .startsWith("Before.\n" + ResultsFile.BEGIN + "\n\n| cache |")
        .endsWith(ResultsFile.END + "\nAfter.\n")
        .doesNotContain("former");
    write(file);
    assertThat(file).content().isEqualTo(once);
  }

  @Test
  void aDocumentWithoutMarksIsRefused() throws IOException {
    Path file = Files.writeString(folder.resolve("prose.md"), ResultsFile.END + ResultsFile.BEGIN);
    assertThatThrownBy(() -> ResultsFile.at(file))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("prose.md: has no place for results");
  }

  @Test
  void theStandardTableBeginsWithHalfPrecision() {
    assertThat(StandardRows.settings().specs().getFirst().text()).isEqualTo("fp16");
    assertThat(StandardRows.quickSettings().specs()).isEqualTo(StandardRows.settings().specs());
    assertThat(StandardRows.quickSettings().tasks()).isEqualTo(StandardRows.settings().tasks());
  }
}
