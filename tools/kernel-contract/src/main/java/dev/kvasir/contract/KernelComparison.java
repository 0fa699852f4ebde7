package dev.kvasir.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import java.util.Random;
import java.util.function.BiConsumer;

/** Runs the scalar and the tested kernels on the same random numbers. */
abstract class KernelComparison {
  static final long SEED = 7;

  final Random random = new Random(SEED);
  final Kernels scalar = new ScalarKernels();
  final Kernels tested;

  KernelComparison(Kernels tested) {
    this.tested = tested;
  }

  /** Checks that both kernels turn an array into the same bits, and returns these. */
  final float[] assertSame(float[] before, BiConsumer<Kernels, float[]> kernel) {
    float[] expected = before.clone();
    float[] found = before.clone();
    kernel.accept(scalar, expected);
    kernel.accept(tested, found);
    assertThat(found).as("seed %d", SEED).isEqualTo(expected);
    return found;
  }

  final float[] randomFloats(int count) {
    return Gaussians.of(random, count);
  }
}
