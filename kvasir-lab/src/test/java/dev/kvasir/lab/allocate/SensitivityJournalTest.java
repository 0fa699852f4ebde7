package dev.kvasir.lab.allocate;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SensitivityJournalTest {
  @TempDir private Path folder;

  @Test
  void textsOfTheSameSourceAreReadBack() {
    Path file = folder.resolve("a.texts");
    SensitivityJournal journal = journal(file, "a book");
    assertThat(journal.known()).isEmpty();
    journal.add(2, sensitivities(1));
    journal.add(0, sensitivities(2));
    assertThat(journal(file, "a book").known())
        .hasSize(2)
        .hasEntrySatisfying(0, found -> assertThat(found.of(1, 4)).isEqualTo(6))
        .hasEntrySatisfying(2, found -> assertThat(found.of(1, 4)).isEqualTo(3));
    assertThat(journal(file, "another book").known()).isEmpty();
    journal.delete();
    assertThat(file).doesNotExist();
  }

  private static SensitivityJournal journal(Path file, String source) {
    return new SensitivityJournal(file, "a model", source, 2, 3);
  }

  private static Sensitivities sensitivities(double size) {
    double[][] keys = {{1, 2, 3}, {size, size, size}};
    double[][] values = {{4, 5, 6}, {size, 2 * size, size}};
    return new Sensitivities(Sensitivities.WIDTHS, keys, values, 1);
  }
}
