package dev.kvasir.lab.eval;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.lab.report.StandardTable;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JournalPartsTest {
  private static final Score.Answers SCORE =
      new Score.Answers(new Proportion(1, 2).estimate(), List.of(1.0, 0.0));

  @TempDir private Path folder;

  private Path part(String name, String conditions, String... rows) {
    Path file = folder.resolve(name);
    EvaluationJournal journal = EvaluationJournal.at(file, "build");
    journal.begin(conditions);
    for (String row : rows) {
      journal.add(row, Task.JSONL, SCORE);
    }
    return file;
  }

  @Test
  void resultsOfPartsAreNotComputedAgain() {
    Path first = part("first", "here", "fp16", "kivi:2");
    Path second = part("second", "here", "fp16", "kivi:4");
    Path elsewhere = part("third", "elsewhere", "kivi:8");
    EvaluationJournal whole =
        EvaluationJournal.at(folder.resolve("whole"), "build", List.of(first, second, elsewhere));
    whole.begin("here");
    for (String row : List.of("fp16", "kivi:2", "kivi:4")) {
      assertThat(whole.scores(row)).containsOnlyKeys(Task.JSONL);
    }
    assertThat(whole.scores("kivi:8")).isEmpty();
  }

  @Test
  void partsOfOtherConditionsAreKept() {
    Path own = part("own", "here", "fp16");
    Path elsewhere = part("other", "elsewhere", "kivi:8");
    EvaluationJournal whole =
        EvaluationJournal.at(folder.resolve("whole"), "build", List.of(own, elsewhere));
    whole.begin("here");
    whole.add("kivi:2", Task.JSONL, SCORE);
    whole.delete();
    assertThat(folder).isDirectoryNotContaining(file -> !file.equals(elsewhere));
    assertThat(elsewhere).exists();
  }

  @Test
  void everyRowOfATableIsInExactlyOnePart() {
    StandardTable table = StandardTable.named("methods");
    assertThat(IntStream.rangeClosed(1, 4).mapToObj(i -> table.part(i, 4).specs()))
        .satisfies(
            parts ->
                assertThat(parts.stream().flatMap(List::stream))
                    .containsExactlyInAnyOrderElementsOf(table.specs()));
  }
}
