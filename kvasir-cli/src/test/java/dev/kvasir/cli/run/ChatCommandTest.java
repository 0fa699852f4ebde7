package dev.kvasir.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChatCommandTest {
  @TempDir Path folder;

  @Test
  void eachPipedLineIsAnswered() {
    CommandRun run =
        CommandRun.withInput("Hello\n\nAgain\n", "chat", "--temperature=0", "--max-tokens=3")
            .succeeds();
    assertThat(run.out().lines()).hasSizeGreaterThanOrEqualTo(2);
    assertThat(run.err()).contains("(cut at --max-tokens 3)");
  }

  @Test
  void aResetForgetsAndGivesTheFirstAnswerAgain() {
    CommandRun run =
        CommandRun.withInput(
                "Hello\n/reset\nHello\n/stats\n", "chat", "--temperature=0", "--max-tokens=3")
            .succeeds();
    String[] answers = run.out().split("\\R");
    assertThat(answers).hasSize(2);
    assertThat(answers[1]).isEqualTo(answers[0]);
    assertThat(run.err())
        .contains("the conversation is forgotten")
        .containsPattern("\\d+ tokens of 16,384 in the context, KV cache 512.0 KiB \\(fp16\\)\\R")
        .contains("last answer: read ")
        .doesNotContain("seed");
  }

  @Test
  void theSeedOfAnswersIsShownAndReproducesThem() {
    CommandRun first =
        CommandRun.withInput("Hello\n/stats\n", "chat", "--max-tokens=30").succeeds();
    Matcher seed = Pattern.compile(", seed (\\d+)\\R").matcher(first.err());
    assertThat(seed.find()).as(first.err()).isTrue();
    CommandRun again =
        CommandRun.withInput("Hello\n", "chat", "--max-tokens=30", "--seed", seed.group(1))
            .succeeds();
    assertThat(again.out()).isEqualTo(first.out());
  }

  @ParameterizedTest
  @ValueSource(strings = {"/exit", "/quit"})
  void commandsAreListedUnknownOnesNamedAndLeavingIsOne(String leave) {
    CommandRun run =
        CommandRun.withInput("/help\n/what\n" + leave + "\nHello\n", "chat").succeeds();
    assertThat(run.err()).contains("/reset", "/stats", "/exit", "/what is unknown");
    assertThat(run.out()).isEmpty();
  }

  @Test
  void aFullContextSuggestsAReset() {
    String lines = "one two three four five six seven eight\n".repeat(2);
    CommandRun run =
        CommandRun.withInput(lines, "chat", "--temperature=0", "--context=24").succeeds();
    assertThat(run.err()).contains("/reset starts anew");
  }

  @Test
  void aMissingModelIsRefused() {
    CommandRun.of("chat", "--model", folder.resolve("none").toString())
        .isRefusedWith("no such file");
  }

  @Test
  void onlyAModelWithWeightsCanTalk() throws IOException {
    Path file = VocabularyFile.write(folder.resolve("letters.gguf"), null);
    CommandRun.of("chat", "--model", file.toString()).isRefusedWith("letters.gguf");
  }
}
