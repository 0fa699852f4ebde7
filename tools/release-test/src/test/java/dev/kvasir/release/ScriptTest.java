package dev.kvasir.release;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The error messages of the script; nothing is built here. */
class ScriptTest {
  @TempDir Path folder;

  @BeforeAll
  static void whereItRuns() {
    Script.assumeItCanRun();
  }

  private void refuses(String sentence, String... arguments) throws Exception {
    Script.Outcome refused = Script.run(folder, arguments);
    assertThat(refused.exitCode()).isEqualTo(2);
    assertThat(refused.out()).isEmpty();
    assertThat(refused.err()).isEqualTo("release: " + sentence + "\n");
  }

  /** Creates a folder that resembles a JDK as far as its release file is concerned. */
  private String jdk(String version, String system, String processor) throws Exception {
    Path home = Files.createDirectories(folder.resolve("jdk"));
    Files.writeString(
        home.resolve("release"),
        "JAVA_VERSION=\"%s\"\nOS_ARCH=\"%s\"\nOS_NAME=\"%s\"\n"
            .formatted(version, processor, system));
    return home.toString();
  }

  @Test
  void helpNamesEveryOption() throws Exception {
    Script.Outcome help = Script.run(folder, "--help");
    assertThat(help.exitCode()).isZero();
    assertThat(help.out()).contains("--all", "--image", "--jdk DIR", "--out DIR", "--no-build");
  }

  @Test
  void whatItDoesNotKnowItRefuses() throws Exception {
    refuses(
        "--fast is unknown; expected --all, --image, --jdk DIR, --out DIR, --no-build or --help",
        "--fast");
    refuses("--jdk has no value; expected a folder", "--jdk");
  }

  @Test
  void aFolderThatIsNoJdkIsRefused() throws Exception {
    refuses(folder + ": has no file release; expected the folder of a JDK", "--jdk", "" + folder);
  }

  @Test
  void anOldJdkIsRefused() throws Exception {
    String old = jdk("21.0.1", "Linux", "x86_64");
    refuses(old + ": is Java 21.0.1; expected 25 or later", "--jdk", old);
  }

  @Test
  void aJdkOfAnotherSystemIsRefused() throws Exception {
    String other = jdk("25.0.1", "Darwin", "aarch64");
    refuses(
        other + ": is for Darwin-aarch64; expected Linux-x86_64 or Linux-aarch64", "--jdk", other);
  }

  @Test
  void aJdkOfAnotherProcessorNeedsItsModules() throws Exception {
    boolean arm = System.getProperty("os.arch").equals("aarch64");
    String other = jdk("25.0.1", "Linux", arm ? "x86_64" : "aarch64");
    refuses(
        other + ": has no folder jmods, which a JDK of another architecture is linked from",
        "--jdk",
        other);
  }
}
