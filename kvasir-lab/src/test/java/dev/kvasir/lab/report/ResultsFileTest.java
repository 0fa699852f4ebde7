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
  private static final String BEGIN = ResultsFile.begin("small");
  private static final String END = ResultsFile.end("small");

  @TempDir private Path folder;

  private static void write(Path file) {
    ResultsFile.at(file, "small").write(Examples.evaluation("small"), Examples.PROVENANCE);
  }

  @Test
  void newDocumentHasTheTableAndRunDetails() {
    Path file = folder.resolve("results.md");
    write(file);
    assertThat(file)
        .content()
        .startsWith("# Results\n\n" + BEGIN + "\n\n| cache | bits | tok/s | ppl |")
        .contains("| `kivi:2` | 2.50 | 90 | 24.00↓ |")
        .contains("; Seed `1`; ", "; Commit `c0ffee`; Date `2026-01-02 03:04 UTC`; ")
        .contains("; Command `kvasir eval --report r.html`.\n")
        .endsWith(END + "\n");
  }

  @Test
  void surroundingTextIsPreserved() throws IOException {
    Path file = folder.resolve("results.md");
    Files.writeString(file, "Before.\n%s\nformer\n%s\nAfter.\n".formatted(BEGIN, END));
    write(file);
    String once = Files.readString(file);
    assertThat(once)
        .startsWith("Before.\n" + BEGIN + "\n\n| cache |")
        .endsWith(END + "\nAfter.\n")
        .doesNotContain("former");
    write(file);
    assertThat(file).content().isEqualTo(once);
  }

  @Test
  void documentWithoutMarksIsRejected() throws IOException {
    Path file = Files.writeString(folder.resolve("prose.md"), END + BEGIN);
    assertThatThrownBy(() -> ResultsFile.at(file, "small"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("prose.md: has no place for results");
  }

  @Test
  void aDocumentMayShowNoTableButKeepItsFigures() throws IOException {
    String text = "<!-- kvasir compare: figures of drift, small -->\n";
    Path file = Files.writeString(folder.resolve("results.md"), text);
    write(file);
    assertThat(file).content().isEqualTo(text);
    assertThat(folder.resolve("results/small.json")).content().contains("kivi:2");
    assertThatThrownBy(() -> ResultsFile.at(file, "smal"))
        .hasMessageContaining("results.md: has no place for results");
  }

  @Test
  void everyStandardTableStartsWithFp16() {
    for (StandardTable table : StandardTable.ALL) {
      assertThat(table.settings().specs().getFirst().text()).isEqualTo("fp16");
      assertThat(table.quickSettings().specs()).isEqualTo(table.settings().specs());
      assertThat(table.quickSettings().tasks()).isEqualTo(table.settings().tasks());
      assertThat(StandardTable.named(table.name())).isSameAs(table);
    }
    assertThatThrownBy(() -> StandardTable.named("other"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage(
            "the table 'other' is unknown; known are methods, baselines, drift, sinks, patternkv,"
                + " patternkv-chunked, mixkvq, pmkvq, pmkvq-widths, commvq, mead, mead-parts");
  }

  @Test
  void tablesDoNotInterfere() throws IOException {
    Path file = folder.resolve("results.md");
    String other = ResultsFile.begin("other") + "\nkept\n" + ResultsFile.end("other") + "\n";
    Files.writeString(file, other + BEGIN + "\n" + END + "\n");
    write(file);
    assertThat(file).content().startsWith(other + BEGIN + "\n\n| cache |");
  }
}
