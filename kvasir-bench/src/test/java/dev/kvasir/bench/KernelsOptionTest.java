package dev.kvasir.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Kernels are selected once per process, after the command has parsed its options. */
class KernelsOptionTest {
  @Test
  void kernelsThatAreUnknownAreRefusedWithTheKnown() throws Exception {
    assertThat(run(2, "generate", "--kernels", "cuda", "Once upon a time"))
        .contains("kvasir: --kernels cuda is unknown; known are java, native");
  }

  @Test
  void aCommandThatComputesNothingAsksForNone() throws Exception {
    assertThat(run(0, "--version", "-Dkvasir.kernels=cuda")).startsWith("kvasir ");
  }

  /** Arguments that start with -D are passed to Java. */
  private static String run(int exitCode, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.add("--enable-native-access=ALL-UNNAMED");
    for (String argument : arguments) {
      if (argument.startsWith("-D")) {
        command.add(argument);
      }
    }
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), "dev.kvasir.cli.Main"));
    for (String argument : arguments) {
      if (!argument.startsWith("-D")) {
        command.add(argument);
      }
    }
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).as(output).isEqualTo(exitCode);
    return output.replaceAll("(?m)^WARNING: .*\\R", "");
  }
}
