package dev.kvasir.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher script that finds Java, run with only a few tools in PATH. */
class LauncherTest {
  private static final Path LAUNCHER = Path.of("../kvasir").toAbsolutePath().normalize();

  @TempDir Path folder;

  @BeforeEach
  void linkTools() throws IOException {
    assumeTrue(Files.isExecutable(Path.of("/bin/bash")), "there is no /bin/bash");
    Files.createDirectory(folder.resolve("bin"));
    String tools = "bash cat dirname find grep head ln mkdir mv readlink rm sleep touch";
    for (String tool : tools.split(" ")) {
      for (String place : new String[] {"/bin/", "/usr/bin/"}) {
        Path found = Path.of(place + tool);
        Path link = folder.resolve("bin").resolve(tool);
        if (Files.exists(found) && !Files.exists(link)) {
          Files.createSymbolicLink(link, found);
        }
      }
    }
  }

  /** JUnit warns about links out of a temporary folder that it has to delete. */
  @AfterEach
  void unlinkTools() throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path link : files.filter(Files::isSymbolicLink).toList()) {
        Files.delete(link);
      }
    }
  }

  private CommandRun launch(Path script, String javaHome, String jvmFolders)
      throws IOException, InterruptedException {
    return launch(script, javaHome, jvmFolders, Map.of(), "--version");
  }

  private CommandRun launch(
      Path script,
      String javaHome,
      String jvmFolders,
      Map<String, String> environment,
      String... arguments)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(script.toString());
    builder.command().addAll(List.of(arguments));
    builder.environment().clear();
    builder.environment().putAll(environment);
    builder.environment().put("PATH", folder.resolve("bin").toString());
    builder.environment().put("JAVA_HOME", javaHome);
    builder.environment().put("KVASIR_JVM_FOLDERS", jvmFolders);
    builder.redirectOutput(folder.resolve("out").toFile());
    builder.redirectError(folder.resolve("err").toFile());
    Process process = builder.start();
    process.getOutputStream().close();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new CommandRun(
        process.exitValue(),
        Files.readString(folder.resolve("out"), StandardCharsets.UTF_8),
        Files.readString(folder.resolve("err"), StandardCharsets.UTF_8));
  }

  /** Creates a fake JDK whose java only prints its arguments. */
  private Path fakeJdk(String version) throws IOException {
    Path home = Files.createDirectories(folder.resolve("jdk-" + version));
    Path java = Files.createDirectories(home.resolve("bin")).resolve("java");
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"%s\"\n".formatted(version));
    Files.writeString(java, "#!/bin/bash\necho \"%s\" \"$@\"\n".formatted(version));
    assertThat(java.toFile().setExecutable(true)).isTrue();
    return home;
  }

  /** Returns where the launcher expects the jar. */
  private static String jar() throws IOException {
    String script = Files.readString(LAUNCHER);
    return assigned(script, "built", "$root/") + "/" + assigned(script, "jar", "$built/");
  }

  private static String assigned(String script, String name, String prefix) {
    String start = name + "=\"" + prefix;
    return script
        .lines()
        .filter(line -> line.startsWith(start))
        .map(line -> line.substring(start.length(), line.length() - 1))
        .findFirst()
        .orElseThrow();
  }

  /** Copies the launcher next to an up-to-date jar, so that no test starts Maven. */
  private Path builtCopy() throws IOException {
    Path root = Files.createDirectory(folder.resolve("copy"));
    Path jar = root.resolve(jar());
    Files.createDirectories(jar.getParent());
    Files.writeString(jar, "");
    Path script = Files.copy(LAUNCHER, root.resolve("kvasir"));
    assertThat(script.toFile().setExecutable(true)).isTrue();
    return script;
  }

  @Test
  void withoutANewEnoughJdkItSaysSo() throws Exception {
    Path old = fakeJdk("17.0.2");
    CommandRun run = launch(LAUNCHER, old.toString(), old + ":" + folder.resolve("none"));
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).startsWith("kvasir: no JDK 25 or later was found").hasLineCount(1);
    assertThat(run.out()).isEmpty();
  }

  @Test
  void itPassesByAnOldJavaHomeAndTakesTheFirstGoodFolder() throws Exception {
    Path old = fakeJdk("21.0.1");
    Path good = fakeJdk("25.0.3");
    Path better = fakeJdk("26-ea");
    CommandRun run = launch(builtCopy(), old.toString(), old + ":" + good + ":" + better);
    assertThat(run.out()).startsWith("25.0.3 --enable-native-access");
    assertThat(run.out()).contains("dev.kvasir.cli.Main --version");
    assertThat(run.exitCode()).isZero();
  }

  /** Creates a java that writes the requested class cache and prints a line while training. */
  private String trainableJdk(String saying) throws IOException {
    Path home = fakeJdk("25.0.3");
    String script =
        """
        #!/bin/bash
        for option in "$@"; do
          case "$option" in
            -XX:AOTCacheOutput=*) echo cache > "${option#*=}"; echo "%s"; exit ;;
          esac
        done
        echo "$@"
        """;
    Files.writeString(home.resolve("bin/java"), script.formatted(saying));
    return home.toString();
  }

  @Test
  void aCacheOfClassesIsMadeOnceAndUsedAfterwards() throws Exception {
    Path script = builtCopy();
    String jdk = trainableJdk("the text goes on");
    for (int i = 0; i < 2; i++) {
      assertThat(launch(script, jdk, "").out()).contains("-XX:AOTCache=");
    }
  }

  @Test
  void javaGetsNoFlagButTheOneForNativeAccess() throws Exception {
    CommandRun run = launch(builtCopy(), fakeJdk("25.0.3").toString(), "");
    assertThat(run.out()).contains("--enable-native-access=ALL-UNNAMED").doesNotContain("--add-");
  }

  @Test
  void aGoodJavaHomeGoesFirstAlsoThroughASymbolicLink() throws Exception {
    Path good = fakeJdk("25.0.3");
    Path better = fakeJdk("26-ea");
    Path link = Files.createSymbolicLink(folder.resolve("linked"), builtCopy());
    assertThat(launch(link, better.toString(), good.toString()).out()).startsWith("26-ea ");
  }

  @Test
  void withoutMavenItSaysThatItMustBeBuilt() throws Exception {
    Path script = builtCopy();
    Files.delete(script.resolveSibling(jar()));
    CommandRun run = launch(script, fakeJdk("25.0.3").toString(), "");
    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("kvasir: ", "Maven (mvn) is not on the PATH");
  }

  @Test
  void forSparkTheClassPathEndsWithWhatSaysWhereTheClusterIs() throws Exception {
    Path script = builtCopy();
    Path jar = script.resolveSibling("kvasir-spark/target/kvasir-spark.jar");
    Files.createDirectories(jar.getParent());
    Files.writeString(jar, "");
    Path spark = folder.resolve("spark");
    Files.createDirectories(spark.resolve("jars"));
    String jdk = fakeJdk("25.0.3").toString();
    String plain = "-cp %s:%s/jars/*".formatted(jar.toRealPath(), spark);
    Map<String, String> alone = Map.of("SPARK_HOME", spark.toString());
    Map<String, String> cluster =
        Map.of(
            "SPARK_HOME", spark.toString(),
            "HADOOP_CONF_DIR", "/etc/hadoop",
            "YARN_CONF_DIR", "/etc/yarn");
    assertThat(launch(script, jdk, "", alone, "eval", "--on", "yarn").out())
        .contains(plain + " dev.kvasir");
    assertThat(launch(script, jdk, "", cluster, "eval", "--on=yarn").out())
        .contains(plain + ":/etc/hadoop:/etc/yarn dev.kvasir");
    assertThat(launch(script, jdk, "", cluster, "eval").out()).doesNotContain("/etc/hadoop");
  }

  /** Maven builds both in the same folders. */
  @Test
  void bothJarsAreBuiltUnderOneLock() throws Exception {
    Path script = builtCopy();
    Path spark = folder.resolve("spark");
    Files.createDirectories(spark.resolve("jars"));
    Map<String, String> environment = Map.of("SPARK_HOME", spark.toString());
    Path lock = script.resolveSibling(jar()).resolveSibling("build.lock");
    Files.createSymbolicLink(lock, Path.of("1073741824")); // no process has this number
    CommandRun run =
        launch(script, fakeJdk("25.0.3").toString(), "", environment, "eval", "--on", "yarn");
    assertThat(run.err()).contains("Maven (mvn) is not on the PATH");
    assertThat(Files.isSymbolicLink(lock)).as("a dead builder's lock, taken over").isFalse();
  }
}
