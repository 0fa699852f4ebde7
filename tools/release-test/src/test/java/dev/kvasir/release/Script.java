package dev.kvasir.release;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.kvasir.cli.Main;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;

/** The scripts of a release, run with the JDK of this process. */
final class Script {
  private static final Path FILE = Path.of("../release").toAbsolutePath().normalize();
  private static final Path JDK = Path.of(System.getProperty("java.home"));
  private static final long PATIENCE_SECONDS = 3600;

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
    return run(FILE, scratch, arguments);
  }

  static Outcome run(Path file, Path scratch, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(file.toString()));
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
    ProcessBuilder builder =
        new ProcessBuilder(
            FILE.toString(), "--no-build", "--out", scratch.resolve("made").toString());
    builder.environment().put("JAVA_HOME", JDK.toString());
    builder.environment().put("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1");
    Outcome made = outcome(builder, scratch);
    assertThat(made.exitCode()).as(made.err()).isZero();
    return unpack(Path.of(made.out().strip()), scratch.resolve("a place"), scratch);
  }

  /** Unpacks an archive of one folder; returns that folder. */
  static Path unpack(Path packed, Path place, Path scratch)
      throws IOException, InterruptedException {
    extract(packed, place, scratch);
    return place.resolve(packed.getFileName().toString().replace(".tar.gz", ""));
  }

  static void extract(Path packed, Path place, Path scratch)
      throws IOException, InterruptedException {
    Files.createDirectories(place);
    ProcessBuilder tar =
        new ProcessBuilder("tar", "-xf", packed.toString(), "-C", place.toString());
    Outcome extracted = outcome(tar, scratch);
    assertThat(extracted.exitCode()).as(extracted.err()).isZero();
  }

  /** Deletes links below a folder: JUnit warns about those that leave a temporary folder. */
  static void deleteLinks(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path link : files.filter(Files::isSymbolicLink).toList()) {
        Files.delete(link);
      }
    }
  }

  static String sha256(InputStream data) throws IOException {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      try (DigestInputStream in = new DigestInputStream(data, digest)) {
        in.transferTo(OutputStream.nullOutputStream());
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  static String sha256(Path file) throws IOException {
    return sha256(Files.newInputStream(file));
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
