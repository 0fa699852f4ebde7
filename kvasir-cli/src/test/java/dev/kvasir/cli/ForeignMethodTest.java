package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.profile.Profile;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A line in a service file suffices to add a method to the command line. */
class ForeignMethodTest {
  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"generate", "chat", "serve", "inspect", "roundtrip"})
  void helpSaysWhereCachesAreListed(String command) {
    assertThat(CommandRun.of(command, "--help").succeeds().out().replaceAll("\\s+", " "))
        .contains("'kvasir caches' lists all methods");
  }

  @Test
  void itsHelpIsListedWithTheOthers() {
    assertThat(CommandRun.of("caches").succeeds().out())
        .containsPattern("\\n +foreign +depth \\(1 to 9\\), up to 100% of it as it was\\R")
        .containsPattern("kivi:1\\|2\\|3\\|4\\|8 +k, v \\(bits\\)")
        .containsPattern(
            "not\\s+commvq,\\s+mead,\\s+vqllm,\\s+kvquant,\\s+turboquant,\\s+foreign\\R");
  }

  @Test
  void itsSpecsAreParsedAndUsed() {
    String[] end = {"--temperature=0", "--max-tokens=4", "Once upon a time"};
    CommandRun whole = CommandRun.of("generate", "--kv=fp32", end[0], end[1], end[2]).succeeds();
    CommandRun run =
        CommandRun.of("generate", "--kv=foreign,depth=3", end[0], end[1], end[2]).succeeds();
    assertThat(run.out()).isEqualTo(whole.out());
    assertThat(run.err()).contains("KV cache 1.0 MiB (foreign,depth=3");
    assertThat(CommandRun.of("inspect", "--kv=foreign").succeeds().out())
        .contains("foreign: 8.0 MiB for 1,000 tokens");
  }

  @Test
  void refusalsNameIt() {
    CommandRun.of("inspect", "--kv=foreign,depth=10").isRefusedWith("depth is 10; expected 1 to 9");
    CommandRun.of("inspect", "--kv=stranger")
        .isRefusedWith("'stranger' is unknown", "foreign", "kivi");
    String out = folder.resolve("a.profile").toString();
    CommandRun.of("calibrate", "--kv=stranger", "--out", out)
        .isRefusedWith("--kv is 'stranger'", "pmkvq", "foreign");
    CommandRun.of("tune", "--kv=foreign", "--out", out)
        .isRefusedWith("--kv is 'foreign'", "mixkvq only");
  }

  /** {@link dev.kvasir.cli.lab.ForeignCalibrator} has a line in a service file too. */
  @Test
  void itIsCalibratedWithItsOwnOptions() {
    assertThat(CommandRun.of("calibrate", "--help").succeeds().out().replaceAll("\\s+", " "))
        .contains("foreign: a depth.", "--foreign-depth=N foreign: 1 to 9. Default: 3.")
        .containsPattern("\\bforeign\\b[^:;.]* take a minute or two");
    Path out = folder.resolve("b.profile");
    String[] command = {"calibrate", "--kv=foreign", "--out", out.toString(), "--foreign-depth=7"};
    assertThat(CommandRun.of(command).succeeds().out()).isEqualTo("depth 7\n");
    assertThat(Profile.open(out).note("foreign/depth")).hasValue("7");
    CommandRun.of("calibrate", "--kv=foreign", "--out", out.toString(), "--foreign-depth=0")
        .isRefusedWith("--foreign-depth is 0; expected 1 to 9");
    CommandRun.of("calibrate", "--kv=oscar", "--out", out.toString(), "--foreign-depth=1")
        .isRefusedWith("--foreign-depth is an option of foreign; --kv is 'oscar'");
    CommandRun.of("calibrate", "--kv=foreign", "--out", out.toString(), "--forecast")
        .isRefusedWith("--kv is 'foreign'; --forecast is for pmkvq, commvq and mead");
  }
}
