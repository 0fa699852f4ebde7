package dev.kvasir.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Deploys all modules into a folder, and builds and runs a sample project from it. Works on copies
 * of the tree and with its own local repository, so it may run during a build.
 */
class ReleaseCheckTest {
  private static final Path FILE = Path.of("../release-check").toAbsolutePath().normalize();

  @TempDir Path scratch;

  @BeforeAll
  static void whereItRuns() {
    Script.assumeItCanRun();
  }

  @Test
  @Tag("thorough")
  void aSampleProjectRunsFromWhatIsDeployed() throws Exception {
    assumeTrue(
        Stream.of(System.getenv("PATH").split(":"))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "mvn"))),
        "there is no mvn on the PATH");
    Script.Outcome checked = Script.run(FILE, scratch);
    assertThat(checked.exitCode()).as(checked.err()).isZero();
    assertThat(checked.out())
        .containsPattern("\\d+ modules deployed, version \\d+\\.\\d+\\.\\d+\n")
        .containsPattern("\\d+ jars have the same SHA-256 in a second build\n")
        .containsPattern("the sample's answer: \\S");
  }

  @Test
  void unknownOptionsAndExistingFoldersAreRefused() throws Exception {
    Script.Outcome unknown = Script.run(FILE, scratch, "--fast");
    assertThat(unknown.exitCode()).isEqualTo(2);
    assertThat(unknown.err())
        .isEqualTo("release-check: --fast is unknown; expected --out DIR or --help\n");
    Script.Outcome existing = Script.run(FILE, scratch, "--out", scratch.toString());
    assertThat(existing.exitCode()).isEqualTo(2);
    assertThat(existing.err())
        .isEqualTo(
            "release-check: --out %s: exists; expected a folder to be made\n".formatted(scratch));
  }
}
