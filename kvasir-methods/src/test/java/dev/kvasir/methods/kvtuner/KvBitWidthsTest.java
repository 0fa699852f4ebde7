package dev.kvasir.methods.kvtuner;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvasir.codec.LayerSensitivities;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KvBitWidthsTest {
  private static final int LAYERS = 3;
  private static final int SIDES = 2 * LAYERS;

  @ParameterizedTest
  @CsvSource({"2, 2, 2", "3, 4, 2", "4, 4, 4", "5, 8, 2", "6, 8, 4", "8, 8, 8"})
  void uniformWidthsHaveTheMeanAndMoreBitsForKeys(int mean, int keys, int values) {
    KvBitWidths pairs = KvBitWidths.uniform(2, mean);
    assertThat(pairs.keys()).containsExactly(keys, keys);
    assertThat(pairs.values()).containsExactly(values, values);
  }

  @ParameterizedTest
  @CsvSource({"2, 1", "3, 2", "4, 3", "5, 4", "6, 5", "8, 6"})
  void allocationIsOptimalWithinTheMean(int mean, long seed) {
    LayerSensitivities sensitivities = random(seed);
    KvBitWidths found = KvBitWidths.allocate(sensitivities, mean);
    int bits = Arrays.stream(found.keys()).sum() + Arrays.stream(found.values()).sum();
    assertThat(bits).isLessThanOrEqualTo(mean * SIDES);
    double least = Double.POSITIVE_INFINITY;
    for (int code = 0; code < Math.pow(3, SIDES); code++) {
      KvBitWidths other = pairs(code);
      int sum = Arrays.stream(other.keys()).sum() + Arrays.stream(other.values()).sum();
      if (sum <= mean * SIDES) {
        least = Math.min(least, lost(sensitivities, other));
      }
    }
    assertThat(lost(sensitivities, found)).isEqualTo(least);
  }

  @Test
  void moreSensitiveKeysGetMoreBits() {
    float[] all = new float[2 * 3];
    all[0] = 9;
    all[3] = 1;
    KvBitWidths pairs = KvBitWidths.allocate(new LayerSensitivities(1, all), 3);
    assertThat(pairs.keys()).containsExactly(4);
    assertThat(pairs.values()).containsExactly(2);
  }

  private static KvBitWidths pairs(int code) {
    KvBitWidths pairs = new KvBitWidths(new int[LAYERS], new int[LAYERS]);
    int rest = code;
    for (int side = 0; side < SIDES; side++) {
      int[] widths = side % 2 == 0 ? pairs.keys() : pairs.values();
      widths[side / 2] = LayerSensitivities.WIDTHS.get(rest % 3);
      rest /= 3;
    }
    return pairs;
  }

  /** Returns integers, so that sums are the same in any order. */
  private static LayerSensitivities random(long seed) {
    Random random = new Random(seed);
    float[] all = new float[SIDES * 3];
    for (int side = 0; side < SIDES; side++) {
      all[3 * side] = 40 + random.nextInt(100);
      all[3 * side + 1] = 10 + random.nextInt(20);
      all[3 * side + 2] = random.nextInt(5);
    }
    return new LayerSensitivities(LAYERS, all);
  }

  private static double lost(LayerSensitivities sensitivities, KvBitWidths pairs) {
    double sum = 0;
    for (int layer = 0; layer < LAYERS; layer++) {
      int keys = LayerSensitivities.WIDTHS.indexOf(pairs.keys()[layer]);
      int values = LayerSensitivities.WIDTHS.indexOf(pairs.values()[layer]);
      sum += sensitivities.ofKeys(layer, keys) + sensitivities.ofValues(layer, values);
    }
    return sum;
  }
}
