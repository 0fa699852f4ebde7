package dev.kvasir.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.cli.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;

/** The script {@code tools/release}, run with the JDK of this process. */
final class Script {
  private static final Path FILE = Path.of("../release").toAbsolutePath().normalize();
  private static final Path JDK = Path.of(System.getProperty("java.home"));
  private static final long PATIENCE_SECONDS = 600;

  private Script() {}

  /** The result of a process. */
  record Outcome(int exitCode, String out, String err) {}

  /** Skips tests that need a distribution where none can be built. */
  static void assumeItCanRun() {
    String platform = System.getProperty("os.name") + "-" + System.getProperty("os.arch");
    assumeTrue(
        Set.of("Linux-amd64", "Linux-aarch64").contains(platform),
        "distributions are for Linux on x86_64 and aarch64; this is " + platform);
    for (String tool : new String[] {"bash", "tar", "gzip"}) {
      assumeTrue(
          Files.isExecutable(Path.of("/bin", tool)), "there is no %s in /bin".formatted(tool));
    }
    assumeTrue(
        Files.exists(JDK.resolve("jmods/java.base.jmod")) || linksItself(),
        JDK + " has no folder jmods, and its jlink cannot do without");
    assumeTrue(
        Main.class.getProtectionDomain().getCodeSource().getLocation().getPath().endsWith(".jar"),
        "kvasir-cli is not packaged at this point of the build; mvn verify does that");
  }

  private static boolean linksItself() {
    StringWriter help = new StringWriter();
    PrintWriter writer = new PrintWriter(help);
    ToolProvider.findFirst("jlink").ifPresent(jlink -> jlink.run(writer, writer, "--help"));
    return help.toString().contains("Linking from run-time image enabled");
  }

  static Outcome run(Path scratch, String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(FILE.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("JAVA_HOME", JDK.toString());
    return outcome(builder, scratch);
  }

  /** Runs a process to its end, without input. */
  static Outcome outcome(ProcessBuilder builder, Path scratch)
      throws IOException, InterruptedException {
    Path out = Files.createTempFile(scratch, "out", ".txt");
    Path err = Files.createTempFile(scratch, "err", ".txt");
    Process process = builder.redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    process.getOutputStream().close();
    assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
    return new Outcome(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  /** Builds and unpacks a distribution; returns its folder. */
  static Path unpacked(Path scratch) throws IOException, InterruptedException {
    Outcome made = run(scratch, "--no-build", "--out", scratch.resolve("made").toString());
    assertThat(made.exitCode()).as(made.err()).isZero();
    Path packed = Path.of(made.out().strip());
    Path place = Files.createDirectories(scratch.resolve("a place"));
    ProcessBuilder tar =
        new ProcessBuilder("tar", "-xzf", packed.toString(), "-C", place.toString());
    assertThat(outcome(tar, scratch).exitCode()).isZero();
    return place.resolve(packed.getFileName().toString().replace(".tar.gz", ""));
  }

  /** Returns a command in an environment with four tools and no Java. */
  static ProcessBuilder withoutJava(Path tools, List<String> command) throws IOException {
    Files.createDirectories(tools);
    for (String tool : new String[] {"bash", "dirname", "grep", "readlink"}) {
      Path link = tools.resolve(tool);
      if (!Files.exists(link)) {
        Path inBin = Path.of("/bin", tool);
        Files.createSymbolicLink(link, Files.exists(inBin) ? inBin : Path.of("/usr/bin", tool));
      }
    }
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().clear();
    builder.environment().putAll(Map.of("PATH", tools.toString()));
    return builder;
  }
}
