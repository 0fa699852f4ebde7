package dev.kvasir.natives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvasir.kernel.KernelChoice;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

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

  @Test
  void operandsWhoseShapesDoNotFitAreRefused() {
    Kernels kernels = new NativeKernels();
    float[] ten = new float[10];
    RowBlock two = RowBlock.of(ten, 2, 5);
    assertThatThrownBy(() -> kernels.floats().products(two, RowBlock.of(ten, 2, 4), two))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("2 rows of 4 values; expected 2 of 5");
    assertThatThrownBy(() -> kernels.floats().weightedSums(two, two, two))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** Only calls of C functions take more arguments. */
  @ParameterizedTest
  @MethodSource("families")
  void noMethodHasMoreThanSevenParameters(Class<?> family) {
    for (Method method : family.getDeclaredMethods()) {
      assertThat(method.getParameterCount()).as(method.toString()).isLessThanOrEqualTo(7);
    }
  }

  static Stream<Class<?>> families() {
    Kernels kernels = new NativeKernels();
    return Stream.of(
            kernels.gemm(),
            kernels.floats(),
            kernels.rows(),
            kernels.halves(),
            kernels.dots(),
            kernels.patterns(),
            kernels.codebooks(),
            kernels.rowCodes())
        .map(Object::getClass);
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
