package dev.kvasir.lab.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RecordsTest {
  private static Document table(long seed) {
    return Records.document(Seeds.of(seed, "records", 1000, 0), 60, 10);
  }

  @Test
  void aTableHasALineForEachRecord() {
    List<String> lines = table(1).text().lines().toList();
    assertThat(lines).hasSize(61).doesNotHaveDuplicates();
    assertThat(lines.getFirst()).isEqualTo("Records:");
    assertThat(lines.subList(1, 61)).allMatch(line -> line.matches("[a-z]+-[a-z]+: \\d{4}"));
  }

  @Test
  void questionsAskForRecordsOfTheTableInEveryPartOfIt() {
    Document table = table(1);
    for (Question question : table.questions()) {
      String name = question.text().replaceAll("(?s).*value of (\\S+)\\?.*", "$1");
      assertThat(question.text())
          .isEqualTo("\nQuestion: What is the value of %s?\nAnswer:".formatted(name));
      assertThat(table.text()).contains("\n%s: %s".formatted(name, question.answer()));
    }
    assertThat(table.questions())
        .extracting(question -> (int) (10 * question.depth()))
        .containsExactly(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  }

  @Test
  void seedDeterminesTheTable() {
    assertThat(table(1)).isEqualTo(table(1)).isNotEqualTo(table(2));
  }
}
