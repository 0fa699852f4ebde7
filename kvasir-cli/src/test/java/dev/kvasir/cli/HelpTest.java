package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HelpTest {
  @Test
  void withoutArgumentsAShortStartIsShown() {
    String start = CommandRun.of().succeeds().out();
    assertThat(start)
        .contains("kvasir generate \"Once upon a time\"", "kvasir chat", "kvasir serve")
        .contains("kvasir doctor", "kvasir --help");
    assertThat(start.lines())
        .hasSizeLessThan(12)
        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(88));
  }

  @Test
  void theHelpListsAllCommands() {
    assertThat(CommandRun.of("--help").succeeds().out())
        .contains(
            "Usage: kvasir", "generate", "chat", "inspect", "tokenize", "render", "eval", "compare")
        .contains("doctor", "completion", "kvasir generate \"Once upon a time\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "generate",
        "chat",
        "session",
        "inspect",
        "tokenize",
        "render",
        "roundtrip",
        "eval",
        "compare",
        "tune",
        "calibrate",
        "patterns",
        "codebooks",
        "claims",
        "reproduce",
        "serve",
        "caches",
        "doctor",
        "completion"
      })
  void everyCommandHasExamplesAndNoColoursInAPipe(String command) {
    CommandRun run = CommandRun.of(command, "--help").succeeds();
    assertThat(run.out())
        .startsWith("Usage: kvasir " + command)
        .contains("Examples:", "  kvasir " + command)
        .doesNotContain("\u001b", "${");
    // A longer example would be broken where it cannot be copied.
    assertThat(run.out().split("Examples:\\R")[1].lines()).allMatch(line -> line.startsWith("  "));
    assertThat(CommandRun.of("help", command).succeeds().out()).isEqualTo(run.out());
  }

  /** Only examples are not rewritten. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "generate",
        "chat",
        "serve",
        "inspect",
        "roundtrip",
        "eval",
        "compare",
        "tune",
        "calibrate",
        "codebooks",
        "reproduce",
        "session prune"
      })
  void optionsAreExplainedWithinEightyColumns(String command) {
    String[] words = (command + " --help").split(" ");
    String explained = CommandRun.of(words).succeeds().out().split("Examples:")[0];
    assertThat(explained.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
  }

  @Test
  void allTablesAreNamedByComparing() {
    assertThat(CommandRun.of("compare", "--help").out().replaceAll("\\s+", " "))
        .contains(
            "usual widths; or one of baselines, drift, sinks, patternkv, patternkv-chunked,"
                + " mixkvq,")
        .contains("pmkvq, pmkvq-widths, commvq, mead, mead-parts: what they are compared with");
  }

  @Test
  void theVersionNamesJavaToo() {
    assertThat(CommandRun.of("--version").succeeds().out())
        .matches("kvasir \\d+\\.\\S+ \\(Java \\d.*\\)\\R");
  }

  @Test
  void unknownWordsAreNamed() {
    CommandRun.of("genrate").isRefusedWith("'genrate' is unknown", "did you mean 'generate'?");
    CommandRun.of("frobnicate").isRefusedWith("'frobnicate' is unknown", "kvasir --help");
    CommandRun.of("--nothing").isRefusedWith("'--nothing' is unknown");
    CommandRun.of("generate", "--nothing", "x")
        .isRefusedWith("'--nothing'", "kvasir generate --help");
    CommandRun.of("generate", "--model").isRefusedWith("--model");
    CommandRun.of("render").isRefusedWith("--messages");
  }
}
