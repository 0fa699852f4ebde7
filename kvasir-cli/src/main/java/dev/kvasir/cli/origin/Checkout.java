package dev.kvasir.cli.origin;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The Git clone that the program runs from. */
final class Checkout {
  private Checkout() {}

  /**
   * Returns its commit, marked if sources are modified; empty outside of a clone or without Git.
   * Changes in docs do not count, because results are written there.
   */
  static Optional<String> commit() {
    Optional<Path> root = root();
    return root.flatMap(folder -> git(folder, "rev-parse", "--short=10", "HEAD"))
        .map(commit -> isChanged(root.get()) ? commit + ", with changes" : commit);
  }

  private static boolean isChanged(Path root) {
    return git(root, "status", "--porcelain", "--", ".", ":(exclude)docs")
        .filter(changes -> !changes.isEmpty())
        .isPresent();
  }

  private static Optional<Path> root() {
    try {
      Path code =
          Path.of(Checkout.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      return git(code.getParent(), "rev-parse", "--show-toplevel")
          .map(Path::of)
          // The program may be inside a clone of another project.
          .filter(top -> Files.isDirectory(top.resolve("kvasir-core")));
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }

  private static Optional<String> git(Path folder, String... arguments) {
    List<String> command = new ArrayList<>(List.of("git", "-C", folder.toString()));
    command.addAll(List.of(arguments));
    try {
      Process process =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      process.getOutputStream().close();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return process.waitFor() == 0 ? Optional.of(output.strip()) : Optional.empty();
    } catch (IOException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
