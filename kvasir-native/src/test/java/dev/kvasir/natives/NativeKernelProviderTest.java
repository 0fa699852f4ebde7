package dev.kvasir.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NativeKernelProviderTest {
  private static final String ENABLED = "--enable-native-access=ALL-UNNAMED";

  @TempDir Path folder;

  @Test
  void isChosenAndSaysWhatItRunsOn() {
    KernelChoice choice = KernelChoice.ofThisProcess();
    assertThat(choice.kernels().name()).startsWith("native, ");
    assertThat(choice.reason()).isEqualTo("the fastest that can run here");
  }

  @Test
  void withoutNativeAccessItSaysWhichFlagIsMissing() throws Exception {
    assertThat(choice(List.of("--illegal-native-access=deny")))
        .startsWith("Java: ")
        .contains("native refused: native access is not enabled; pass " + ENABLED + " to java");
  }

  @Test
  void theLibraryLeavesNoFileBehind() throws Exception {
    assertThat(choice(List.of(ENABLED, "-Djava.io.tmpdir=" + folder))).startsWith("native, ");
    try (Stream<Path> left = Files.list(folder)) {
      assertThat(left.filter(path -> path.getFileName().toString().startsWith("kvasir"))).isEmpty();
    }
  }

  @Test
  void aFolderThatCannotBeWrittenToIsNamed() throws Exception {
    Path missing = folder.resolve("missing");
    assertThat(choice(List.of(ENABLED, "-Djava.io.tmpdir=" + missing)))
        .startsWith("Java: ")
        .contains("cannot be loaded from " + missing)
        .contains("pass -Djava.io.tmpdir=FOLDER");
  }

  /** A mistake in Java must not become a write beyond an array. */
  @Test
  void arraysThatAreTooShortAreRefusedBeforeTheCall() {
    Kernels kernels = new NativeKernels();
    float[] ten = new float[10];
    assertThatThrownBy(() -> kernels.rows().scale(ten, 5, 6, 2))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(() -> kernels.rows().add(ten, -1, ten, 0, 3))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(
            () ->
                kernels
                    .floats()
                    .products(
                        RowBlock.of(ten, 2, 5), RowBlock.of(ten, 3, 5), RowBlock.of(ten, 2, 3)))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  private static String choice(List<String> options) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElseThrow());
    command.addAll(options);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), PrintChoice.class.getName()));
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor()).as(output).isZero();
    return output.lines().filter(line -> line.contains(": ")).reduce((a, b) -> b).orElse(output);
  }

  static final class PrintChoice {
    public static void main(String[] arguments) {
      KernelChoice choice = KernelChoice.ofThisProcess();
      System.out.println(choice.kernels().name() + ": " + choice.reason());
    }
  }
}
