package dev.kvasir.server;

import static org.junit.jupiter.api.Assumptions.abort;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * A package of npm in the build's folder, which scripts of the tests may import. Where it cannot be
 * had, the test is skipped.
 */
final class NodePackage {
  private static final long INSTALL_SECONDS = 90;
  private static final long RUN_SECONDS = 300;

  private final Path folder;

  private NodePackage(Path folder) {
    this.folder = folder;
  }

  /**
   * Installs it once for all runs until the folder is cleaned.
   *
   * @param leastNode that it runs on
   */
  static NodePackage of(String name, String version, int leastNode)
      throws IOException, InterruptedException {
    Path folder = Path.of("target", "npm-" + name + "-" + version);
    Path installed = folder.resolve("installed");
    Files.createDirectories(folder);
    requireNode(folder, leastNode);
    if (!Files.exists(installed)) {
      Run npm =
          run(
              folder,
              INSTALL_SECONDS,
              List.of(
                  "npm",
                  "install",
                  "--no-audit",
                  "--no-fund",
                  "--no-save",
                  "--ignore-scripts",
                  "--fetch-retries=0",
                  "--fetch-timeout=30000",
                  name + "@" + version));
      if (npm.status() != 0) {
        abort("npm could not install %s %s: %s".formatted(name, version, npm.complaint()));
      }
      Files.createFile(installed);
    }
    return new NodePackage(folder);
  }

  private static void requireNode(Path folder, int least) throws IOException, InterruptedException {
    String version = run(folder, RUN_SECONDS, List.of("node", "--version")).lastLine();
    int major = Integer.parseInt(version.replaceAll("^v|\\..*$", ""));
    assumeTrue(major >= least, () -> "node is %s; at least %d is needed".formatted(version, least));
  }

  /**
   * Runs a script of the tests with Node.
   *
   * @return the last line that it printed
   */
  String run(String script, String argument) throws IOException, InterruptedException {
    // Imports are looked for beside the script.
    Path copy = folder.resolve(script);
    try (InputStream source = NodePackage.class.getResourceAsStream(script)) {
      Files.write(copy, source.readAllBytes());
    }
    Run node = run(folder, RUN_SECONDS, List.of("node", script, argument));
    if (node.status() != 0) {
      throw new AssertionError(
          "%s ended with %d: %s".formatted(script, node.status(), node.said()));
    }
    return node.lastLine();
  }

  /**
   * @param said on both of its outputs
   */
  private record Run(int status, String said) {
    /** Npm says first what is wrong, and last where it is logged. */
    String complaint() {
      return said.lines()
          .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("npm err"))
          .findFirst()
          .orElse(lastLine());
    }

    String lastLine() {
      return said.isBlank() ? "it said nothing" : said.strip().lines().toList().getLast();
    }
  }

  private static Run run(Path folder, long seconds, List<String> command)
      throws IOException, InterruptedException {
    Path out = Files.createTempFile(folder, "out", ".txt");
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectOutput(out.toFile())
              .start();
    } catch (IOException e) {
      return abort("%s is not installed".formatted(command.getFirst()));
    }
    boolean ended = process.waitFor(seconds, TimeUnit.SECONDS);
    if (!ended) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
    String said = Files.readString(out, StandardCharsets.UTF_8);
    Files.delete(out);
    return ended
        ? new Run(process.exitValue(), said)
        : new Run(-1, said + "\nit did not end in %d seconds".formatted(seconds));
  }
}
