package dev.kvasir.simd;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.Family;
import dev.kvasir.kernel.ScalarKernels;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class KernelFamilyTest {
  private final List<KernelFamily> waiting = new ArrayList<>();

  private KernelFamily family(WarmUp.Trial trial) {
    return new KernelFamily(Family.ROWS, trials -> trial, waiting::add);
  }

  private static WarmUp trials() {
    return new WarmUp(new ScalarKernels(VectorWidth.lanes()), new VectorKernels());
  }

  @Test
  void itWaitsForItsTrialOnceItIsAskedFor() {
    KernelFamily family = family(kernels -> {});
    assertThat(family.report()).isEqualTo("plain Java, not asked for yet");
    assertThat(family.isWarm()).isFalse();
    assertThat(family.isWarm()).isFalse();
    assertThat(waiting).containsExactly(family);
    assertThat(family.isDecided()).isFalse();
    assertThat(family.report()).isEqualTo("plain Java, waits for its trial");
  }

  @Test
  void aTrialThatThrowsDecidesForTheScalarOnesAndSaysWhy() {
    KernelFamily family =
        family(
            kernels -> {
              throw new IllegalStateException("made up");
            });
    family.isWarm();
    try (WarmUp trials = trials()) {
      family.tryOut(trials);
    }
    assertThat(family.isWarm()).isFalse();
    assertThat(family.isDecided()).isTrue();
    assertThat(family.report())
        .isEqualTo(
            "plain Java, the trial of vector kernels failed:"
                + " java.lang.IllegalStateException: made up");
  }

  @Test
  void vectorKernelsServeOnceTheyAreTheFasterOnes() {
    KernelFamily family =
        family(
            kernels -> {
              if (kernels instanceof ScalarKernels) {
                busy();
              }
            });
    family.isWarm();
    try (WarmUp trials = trials()) {
      family.tryOut(trials);
    }
    assertThat(family.isWarm()).isTrue();
    assertThat(family.report()).isEqualTo("vectors, they are the faster ones");
  }

  private static void busy() {
    long end = System.nanoTime() + 200_000;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }

  @Test
  void oneThatGaveUpComesAfterAllThatWaitForTheirFirstTrial() {
    KernelFamily first = new KernelFamily(Family.BYTES, trials -> kernels -> {}, waiting::add);
    KernelFamily second = new KernelFamily(Family.ROWS, trials -> kernels -> {}, waiting::add);
    assertThat(first).isLessThan(second);
    first.gaveUp();
    assertThat(first).isGreaterThan(second);
    assertThat(waiting).containsExactly(first);
    first.gaveUp();
    first.gaveUp();
    assertThat(first.isDecided()).isTrue();
    assertThat(first.report())
        .isEqualTo("plain Java, vector kernels stayed the slower ones in 3 trials");
  }
}
