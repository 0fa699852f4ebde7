package dev.kvasir.simd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.KernelChoice;
import org.junit.jupiter.api.Test;

class VectorKernelProviderTest {
  @Test
  void isChosenWhereTheModuleIsLoaded() {
    assertThat(new VectorKernelProvider().refusal()).isEmpty();
    KernelChoice choice = KernelChoice.ofThisProcess();
    assertThat(choice.kernels().name()).startsWith("Vector API");
    assertThat(choice.reason()).isNotBlank();
  }

  /** Without the module the provider must still load, and say which flag is missing. */
  @Test
  void refusesWithTheFlagToPassWhereTheModuleIsMissing() throws Exception {
    Process process =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                PrintChoice.class.getName())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).isZero();
    assertThat(output)
        .contains("scalar Java")
        .contains("vector refused")
        .contains("--add-modules jdk.incubator.vector");
  }

  static final class PrintChoice {
    public static void main(String[] arguments) {
      KernelChoice choice = KernelChoice.ofThisProcess();
      System.out.println(choice.kernels().name() + ": " + choice.reason());
    }
  }
}
