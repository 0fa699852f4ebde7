package dev.kvasir.lab.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DatasetTest {
  @TempDir Path folder;

  private Item only(Dataset dataset, String line) throws IOException {
    Files.writeString(folder.resolve(dataset.file()), line + "\n");
    return dataset.read(folder, 10).getFirst();
  }

  private static double points(Item item, String answer) {
    return item.judges().getFirst().mark(answer).points();
  }

  @Test
  void longBenchTakesTheBestOfSeveralAnswers() throws IOException {
    Item item =
        only(
            LongBench.HOTPOT_QA,
            "{\"context\": \"Text.\", \"input\": \"Who?\", \"answers\": [\"Ada Fenn\", \"Fenn\"]}");
    assertThat(item.prompt()).contains("Text.", "Who?");
    assertThat(item.maxTokens()).isEqualTo(32);
    assertThat(points(item, "Fenn.")).isEqualTo(1);
  }

  @Test
  void fewShotAnswersEndWithTheirLine() throws IOException {
    Item item =
        only(
            LongBench.TREC,
            "{\"context\": \"c\", \"input\": \"i\", \"answers\": [\"date\"],"
                + " \"all_classes\": [\"date\", \"place\"]}");
    assertThat(item.chat()).isFalse();
    assertThat(points(item, "\ndate\nType: place")).isEqualTo(1);
  }

  @Test
  void usersBringTheirOwnPrompts() throws IOException {
    Files.writeString(
        folder.resolve("dataset2prompt.json"), "{\"qasper\": \"READ {context} ASK {input}\"}");
    Item item =
        only(
            LongBench.QASPER,
            "{\"context\": \"{input}\", \"input\": \"why\", \"answers\": [\"x\"]}");
    assertThat(item.prompt()).isEqualTo("READ {input} ASK why");
  }

  @Test
  void solutionsAreJudgedByTheirBox() throws IOException {
    Item item = only(Reasoning.AIME_24, "{\"problem\": \"p\", \"answer\": \"1/2\"}");
    assertThat(points(item, "so \\boxed{\\frac{1}{2}}")).isEqualTo(1);
    assertThat(points(item, "so 0.5")).isEqualTo(1);
    assertThat(points(item, "nothing")).isZero();
    assertThat(item.judges().getFirst().vote("\\boxed{0.5}"))
        .isEqualTo(item.judges().getFirst().vote("\\boxed{\\frac{2}{4}}"));
    assertThat(item.complete().test("\\boxed{1}")).isTrue();
    Item words = only(Reasoning.GSM8K, "{\"question\": \"q\", \"answer\": \"1+1\\n#### 1,002\"}");
    assertThat(points(words, "It is 1002.0")).isEqualTo(1);
  }

  @Test
  void choicesAreShuffledOnceAndForAll() throws IOException {
    String line =
        "{\"Question\": \"Which?\", \"Correct Answer\": \"neutron\", \"Incorrect Answer 1\": \"a\","
            + " \"Incorrect Answer 2\": \"b\", \"Incorrect Answer 3\": \"c\"}";
    Item item = only(Reasoning.GPQA, line);
    String letter = item.prompt().split("\\) neutron")[0].replaceAll("(?s).*\\n", "");
    assertThat(points(item, "\\boxed{%s}".formatted(letter))).isEqualTo(1);
    Item listed =
        only(
            Reasoning.GPQA,
            "{\"question\": \"q\", \"choices\": [\"x\", \"y\"], \"answer\": \"B\"}");
    assertThat(points(listed, "B")).isEqualTo(1);
  }

  @Test
  void instructionsCountOneByOneAndTogether() {
    Item item = Instructions.IFEVAL.standIns().getFirst();
    List<Judge.Mark> marks =
        item.judges().stream().map(judge -> judge.mark("a garden, green and wide")).toList();
    assertThat(marks.getFirst()).isEqualTo(new Judge.Mark(0, 1));
    assertThat(marks.get(2)).isEqualTo(new Judge.Mark(1, 2));
  }

  @Test
  void programsContinueOrRepeatTheirPrompt() {
    String start = "import math\ndef f(x):\n";
    assertThat(Programs.program(start, "    return x")).isEqualTo(start + "    return x");
    assertThat(Programs.program(start, "Here:\n```python\ndef f(x):\n    return 1\n```"))
        .isEqualTo("import math\ndef f(x):\n    return 1\n");
  }

  @Test
  void linesAreSpreadOverTheFile() throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < 10; i++) {
      lines.append("{\"id\": \"%d\", \"problem\": \"p\", \"answer\": \"1\"}\n".formatted(i));
    }
    Files.writeString(folder.resolve("math500.jsonl"), lines);
    assertThat(Reasoning.MATH_500.read(folder, 3))
        .extracting(Item::id)
        .containsExactly("0", "3", "6");
  }

  @Test
  void badFilesAreNamed() throws IOException {
    assertThatThrownBy(() -> LongBench.LCC.read(folder, 1))
        .hasMessageContaining("has no lcc.jsonl; get LongBench");
    assertThatThrownBy(() -> only(Reasoning.AIME_25, "{\"problem\": \"p\"}"))
        .hasMessageContaining("aime25.jsonl, line 1: has no 'answer'; it has [problem]");
    assertThatThrownBy(() -> only(Reasoning.AIME_25, "[]")).hasMessageContaining("no JSON object");
    assertThatThrownBy(() -> only(LongBench.LCC, "{\"context\": \"c\"}"))
        .hasMessageContaining("has no 'answers'");
  }
}
