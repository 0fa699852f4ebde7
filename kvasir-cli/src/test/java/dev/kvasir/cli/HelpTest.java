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
        "inspect",
        "tokenize",
        "render",
        "roundtrip",
        "eval",
        "compare"
      })
  void everyCommandHasExamplesAndNoColoursInAPipe(String command) {
    Run run = Run.of(command, "--help").succeeds();
    assertThat(run.out())
        .startsWith("Usage: kvasir " + command)
        .contains("Examples:", "  kvasir " + command + " ")
        .doesNotContain("\u001b", "${");
    assertThat(Run.of("help", command).succeeds().out()).isEqualTo(run.out());
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
