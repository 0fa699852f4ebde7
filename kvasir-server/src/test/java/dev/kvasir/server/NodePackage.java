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
 * An npm package in the build folder, for the scripts of the tests. If it cannot be installed, the
 * test is skipped.
 */
final class NodePackage {
  private static final long INSTALL_SECONDS = 90;
  private static final long RUN_SECONDS = 300;

  private final Path folder;

  private NodePackage(Path folder) {
    this.folder = folder;
  }

  /**
   * Installs the package once, until the folder is cleaned.
   *
   * @param minNode minimum major version of Node
   */
  static NodePackage of(String name, String version, int minNode)
      throws IOException, InterruptedException {
    Path folder = Path.of("target", "npm-" + name + "-" + version);
    Path installed = folder.resolve("installed");
    Files.createDirectories(folder);
    requireNode(folder, minNode);
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
        abort("npm could not install %s %s: %s".formatted(name, version, npm.firstError()));
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
    // Imports are resolved relative to the script.
    Path copy = folder.resolve(script);
    try (InputStream source = NodePackage.class.getResourceAsStream(script)) {
      Files.write(copy, source.readAllBytes());
    }
    Run node = run(folder, RUN_SECONDS, List.of("node", script, argument));
    if (node.status() != 0) {
      throw new AssertionError(
          "%s ended with %d: %s".formatted(script, node.status(), node.output()));
    }
    return node.lastLine();
  }

  /**
   * @param output standard output and error
   */
  private record Run(int status, String output) {
    /** Returns npm's first error line; the last one names the log file. */
    String firstError() {
      return output
          .lines()
          .filter(line -> line.toLowerCase(Locale.ROOT).startsWith("npm err"))
          .findFirst()
          .orElse(lastLine());
    }

    String lastLine() {
      return output.isBlank() ? "it printed nothing" : output.strip().lines().toList().getLast();
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
    String output = Files.readString(out, StandardCharsets.UTF_8);
    Files.delete(out);
    return ended
        ? new Run(process.exitValue(), output)
        : new Run(-1, output + "\nit did not end in %d seconds".formatted(seconds));
  }
}
