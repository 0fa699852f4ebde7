package dev.kvasir.lab.allocate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.kvasir.error.InvalidInputException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LayerBitAllocationTest {
  /** Returns sensitivities of realistic sizes, smaller at more bits, some nearly equal. */
  private static Sensitivities random(int layers, List<Integer> widths, long seed) {
    Random random = new Random(seed);
    double[][] keys = new double[layers][widths.size()];
    double[][] values = new double[layers][widths.size()];
    for (int layer = 0; layer < layers; layer++) {
      double size = 0.02 * Math.exp(random.nextGaussian());
      for (int width = 0; width < widths.size(); width++) {
        keys[layer][width] = size * (1 + 0.1 * random.nextDouble()) / (1 << widths.get(width));
        values[layer][width] = 0.5 * size / (1 << widths.get(width));
      }
    }
    return new Sensitivities(widths, keys, values, 3);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void allocationIsOptimal(long seed) {
    Sensitivities sensitivities = random(6, Sensitivities.WIDTHS, seed);
    for (double budget : new double[] {2, 2.34, 3, 4, 5.5, 8}) {
      LayerBitAllocation found = LayerBitAllocation.within(sensitivities, budget);
      assertThat(found.meanBits()).isLessThanOrEqualTo(budget);
      assertThat(found.sensitivity())
          .as("seed %d, budget %s: %s", seed, budget, found.bits())
          .isCloseTo(leastOfAll(sensitivities, budget), within(1e-15));
    }
  }

  private static double leastOfAll(Sensitivities sensitivities, double budget) {
    int widths = sensitivities.widths().size();
    int layers = sensitivities.layers();
    double least = Double.POSITIVE_INFINITY;
    for (int code = 0; code < Math.pow(widths, layers); code++) {
      double sum = 0;
      int bits = 0;
      for (int layer = 0, rest = code; layer < layers; layer++, rest /= widths) {
        int width = sensitivities.widths().get(rest % widths);
        bits += width;
        sum += sensitivities.of(layer, width);
      }
      least = bits <= budget * layers ? Math.min(least, sum) : least;
    }
    return least;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void sixtyFourLayersAreSolvedExactly(long seed) {
    Sensitivities sensitivities = random(64, List.of(2, 4, 8, 16), seed);
    for (double budget : new double[] {2.5, 3, 4, 6.1}) {
      assertThat(LayerBitAllocation.within(sensitivities, budget).sensitivity())
          .as("seed %d, budget %s", seed, budget)
          .isCloseTo(leastByDynamicProgramming(sensitivities, (int) (budget * 64)), within(1e-15));
    }
  }

  /** Solves the allocation by dynamic programming over the number of bits. */
  private static double leastByDynamicProgramming(Sensitivities sensitivities, int totalBits) {
    double[] least = new double[totalBits + 1];
    for (int layer = 0; layer < sensitivities.layers(); layer++) {
      double[] next = new double[totalBits + 1];
      Arrays.fill(next, Double.POSITIVE_INFINITY);
      for (int width : sensitivities.widths()) {
        for (int bits = width; bits <= totalBits; bits++) {
          double sum = least[bits - width] + sensitivities.of(layer, width);
          next[bits] = Math.min(next[bits], sum);
        }
      }
      least = next;
    }
    return least[totalBits];
  }

  @Test
  void wideBudgetIsSpentAndTooNarrowOneIsRejected() {
    Sensitivities sensitivities = random(5, List.of(2, 4), 1);
    assertThat(LayerBitAllocation.within(sensitivities, 100).bits()).containsOnly(4);
    assertThat(LayerBitAllocation.within(sensitivities, 2.4).bits()).containsOnlyOnce(4);
    assertThatThrownBy(() -> LayerBitAllocation.within(sensitivities, 1.9))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("the budget is 1.9 bits a number; expected at least 2, the narrowest codes");
  }
}
