package dev.kvasir.cli.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.cli.CommandRun;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompletionTest {
  @TempDir Path folder;

  /** Runs the script in a shell, which then completes two lines. */
  @Test
  void bashCompletesCommandsAndOptions() throws IOException, InterruptedException {
    assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "there is no /bin/bash");
    Path script = Files.writeString(folder.resolve("kvasir.bash"), script("bash"));
    assertThat(completed(script, "kvasir", "gener")).contains("generate");
    assertThat(completed(script, "kvasir", "serve", "--kv-")).contains("--kv-memory");
    assertThat(completed(script, "kvasir", "session", "li")).contains("list");
  }

  private static String completed(Path script, String... words)
      throws IOException, InterruptedException {
    String line =
        "source '%s'; COMP_WORDS=(%s); COMP_CWORD=%d; _complete_kvasir; echo \"${COMPREPLY[@]}\""
            .formatted(script, String.join(" ", words), words.length - 1);
    Process process = new ProcessBuilder("/bin/bash", "-c", line).redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(out).isZero();
    return out;
  }

  @Test
  void zshLoadsWhatItNeedsFirst() {
    assertThat(script("zsh")).startsWith("autoload -Uz compinit").contains("_complete_kvasir");
  }

  @Test
  void fishGetsALineForEachCommandAndOption() {
    String script = script("fish");
    assertThat(script)
        .contains("complete -c kvasir -f\n")
        .contains("complete -c kvasir -n '__fish_use_subcommand' -a generate -d 'Continue a text'")
        .contains("-n '__fish_seen_subcommand_from generate' -s n -l max-tokens -x -d ")
        .contains("-n '__fish_seen_subcommand_from generate' -s f -l prompt-file -r -F -d ")
        .contains("__fish_seen_subcommand_from session; and __fish_seen_subcommand_from prune")
        .doesNotContain("${", "-d ''");
    assertThat(script.lines()).allMatch(line -> line.matches("#.*|complete -c kvasir .*"));
  }

  @Test
  void otherShellsAreRefused() {
    CommandRun.of("completion", "tcsh")
        .isRefusedWith("the shell is 'tcsh'; possible are bash, zsh, fish");
    CommandRun.of("completion").isRefusedWith("SHELL", "kvasir completion --help");
  }

  private static String script(String shell) {
    return CommandRun.of("completion", shell).succeeds().out();
  }
}
