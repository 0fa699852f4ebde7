package dev.kvasir.methods.kvtuner;

import dev.kvasir.codec.LayerSensitivities;
import java.util.Arrays;
import java.util.List;

/**
 * The bit widths of keys and values for each layer.
 *
 * @param keys by layer
 * @param values by layer
 */
record KvBitWidths(int[] keys, int[] values) {
  private static final List<Integer> WIDTHS = LayerSensitivities.WIDTHS;

  /**
   * Returns the same two widths for all layers, with the given mean. Keys get the larger one: their
   * errors change which tokens receive attention, those of values only the output.
   */
  static KvBitWidths uniform(int layers, int meanBits) {
    for (int values : WIDTHS) {
      int keys = 2 * meanBits - values;
      if (WIDTHS.contains(keys) && keys >= values) {
        return new KvBitWidths(filled(layers, keys), filled(layers, values));
      }
    }
    throw new IllegalArgumentException("%d bits are the mean of no pair".formatted(meanBits));
  }

  private static int[] filled(int layers, int bits) {
    int[] all = new int[layers];
    Arrays.fill(all, bits);
    return all;
  }

  /**
   * Returns the widths with the smallest sum of sensitivities whose mean does not exceed {@code
   * meanBits}. Dynamic programming over the keys and values of each layer finds the best for every
   * number of total bits.
   */
  static KvBitWidths allocate(LayerSensitivities sensitivities, int meanBits) {
    int sides = 2 * sensitivities.layers();
    int totalBits = meanBits * sides;
    double[] best = new double[totalBits + 1]; // smallest sum so far, by the maximum of bits used
    int[][] chosen = new int[sides][totalBits + 1];
    for (int side = 0; side < sides; side++) {
      double[] before = best;
      best = new double[totalBits + 1];
      Arrays.fill(best, Double.POSITIVE_INFINITY);
      for (int width = 0; width < WIDTHS.size(); width++) {
        for (int bits = WIDTHS.get(width); bits <= totalBits; bits++) {
          double sum = before[bits - WIDTHS.get(width)] + sensitivity(sensitivities, side, width);
          if (sum < best[bits]) {
            best[bits] = sum;
            chosen[side][bits] = WIDTHS.get(width);
          }
        }
      }
    }
    return backtrack(chosen, totalBits);
  }

  private static double sensitivity(LayerSensitivities sensitivities, int side, int width) {
    return side % 2 == 0
        ? sensitivities.ofKeys(side / 2, width)
        : sensitivities.ofValues(side / 2, width);
  }

  private static KvBitWidths backtrack(int[][] chosen, int totalBits) {
    KvBitWidths pairs = new KvBitWidths(new int[chosen.length / 2], new int[chosen.length / 2]);
    int bits = totalBits;
    for (int side = chosen.length - 1; side >= 0; side--) {
      int width = chosen[side][bits];
      (side % 2 == 0 ? pairs.keys : pairs.values)[side / 2] = width;
      bits -= width;
    }
    return pairs;
  }
}
