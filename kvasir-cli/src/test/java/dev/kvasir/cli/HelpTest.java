package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HelpTest {
  @Test
  void withoutArgumentsTheHelpIsShown() {
    Run run = Run.of().succeeds();
    assertThat(run.out())
        .contains(
            "Usage: kvasir", "generate", "chat", "inspect", "tokenize", "render", "eval", "compare")
        .contains("kvasir generate \"Once upon a time\"");
    assertThat(Run.of("--help").succeeds().out()).isEqualTo(run.out());
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
        "codebooks"
      })
  void everyCommandHasExamplesAndNoColoursInAPipe(String command) {
    Run run = Run.of(command, "--help").succeeds();
    assertThat(run.out())
        .startsWith("Usage: kvasir " + command)
        .contains("Examples:", "  kvasir " + command)
        .doesNotContain("\u001b", "${");
    assertThat(Run.of("help", command).succeeds().out()).isEqualTo(run.out());
  }

  /** Only examples are left as they are typed. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "generate",
        "chat",
        "inspect",
        "roundtrip",
        "compare",
        "calibrate",
        "session prune"
      })
  void optionsAreExplainedWithinEightyColumns(String command) {
    String[] words = (command + " --help").split(" ");
    String explained = Run.of(words).succeeds().out().split("Examples:")[0];
    assertThat(explained.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
  }

  @Test
  void allTablesAreNamedByComparing() {
    assertThat(Run.of("compare", "--help").out().replaceAll("\\s+", " "))
        .contains(
            "usual widths; or one of baselines, drift, sinks, patternkv, patternkv-chunked, mixkvq,")
        .contains("pmkvq, pmkvq-widths, commvq, mead, mead-parts: what they are compared with");
  }

  @Test
  void theVersionNamesJavaToo() {
    assertThat(Run.of("--version").succeeds().out())
        .matches("kvasir \\d+\\.\\S+ \\(Java \\d.*\\)\\R");
  }

  @Test
  void unknownWordsAreNamed() {
    Run.of("genrate").isRefusedWith("'genrate' is unknown", "did you mean 'generate'?");
    Run.of("frobnicate").isRefusedWith("'frobnicate' is unknown", "kvasir --help");
    Run.of("--nothing").isRefusedWith("'--nothing' is unknown");
    Run.of("generate", "--nothing", "x").isRefusedWith("'--nothing'", "kvasir generate --help");
    Run.of("generate", "--model").isRefusedWith("--model");
    Run.of("render").isRefusedWith("--messages");
  }
}
