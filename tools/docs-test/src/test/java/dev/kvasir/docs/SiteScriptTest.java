package dev.kvasir.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the script {@code tools/docs} refuses before it installs or builds anything. */
class SiteScriptTest {
  private record Outcome(int exitCode, String output) {}

  @BeforeAll
  static void assumeThereIsABash() {
    assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "there is no bash in /bin");
  }

  @Test
  void helpNamesTheOptions() throws Exception {
    assertThat(run("/", "--help").exitCode()).isZero();
    assertThat(run("/", "--help").output()).contains("--serve", "--port", "--no-api", "DOCS_BASE");
  }

  @Test
  void mistakesGetOneSentence() throws Exception {
    assertRefused(run("/", "--sreve"), "--sreve is unknown; expected --serve, --port N");
    assertRefused(run("/", "--port", "70000"), "--port 70000 is no port; expected 1 to 65535");
    assertRefused(run("/", "--port"), "--port without a value is no port");
    assertRefused(
        run("kvasir"), "DOCS_BASE is kvasir; expected a path that begins and ends with /");
  }

  private static void assertRefused(Outcome outcome, String sentence) {
    assertThat(outcome.exitCode()).isEqualTo(2);
    assertThat(outcome.output()).contains(sentence);
    assertThat(outcome.output().lines()).hasSize(1);
  }

  private static Outcome run(String base, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("/bin/bash", "../docs"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("DOCS_BASE", base);
    Process process = builder.start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Outcome(process.waitFor(), output);
  }
}
