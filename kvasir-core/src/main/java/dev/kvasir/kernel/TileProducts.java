package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Products of tiles of 8-bit weights with one row of activations, in plain Java and to the bits of
 * {@link ScalarGemm}. For one row, gathering the words of many tiles takes longer than multiplying
 * them; here a loop traverses the words of a tile as they are stored.
 */
final class TileProducts {
  private static final int TILE_ROWS = QuantizedWeights.TILE_ROWS;
  private static final int GROUP = QuantizedActivations.GROUP;

  /** Words of a group in a tile. */
  private static final int GROUP_WORDS = GROUP / 4 * TILE_ROWS;

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int[] words = new int[WordFactors.RUN / 4 * TILE_ROWS];
  private final float[] scales = new float[TILE_ROWS];
  private final float[] totals = new float[TILE_ROWS];

  static boolean fits(QuantizedWeights matrix) {
    return matrix.coding() == WeightCodes.BYTES
        && matrix.groupLength() == GROUP
        && !matrix.hasMinimums();
  }

  void multiply(
      QuantizedWeights matrix, int tile, QuantizedActivations activations, float[] out, int outAt) {
    Arrays.fill(totals, 0);
    WordFactors factors = activations.wordFactors();
    for (int column = 0; column < matrix.columns(); column += WordFactors.RUN) {
      int groups = Math.min(WordFactors.RUN, matrix.columns() - column) / GROUP;
      int count = groups * GROUP_WORDS;
      long from = matrix.codesOffset(tile) + (long) column * TILE_ROWS;
      MemorySegment.copy(matrix.codes(), INT, from, words, 0, count);
      int[][] run = factors.ofRun(column / WordFactors.RUN);
      multiply(words, run[0], run[1], run[2], run[3], count);
      int firstGroup = column / GROUP;
      for (int group = 0; group < groups; group++) {
        matrix.copyScales(tile, firstGroup + group, scales, 0);
        float scale = activations.scales()[firstGroup + group];
        add(words, group, factors.excess(firstGroup + group), scales, scale, totals);
      }
    }
    int height = Math.min(TILE_ROWS, matrix.rows() - tile * TILE_ROWS);
    System.arraycopy(totals, 0, out, outAt, height);
  }

  /** Replaces words by their products. */
  private static void multiply(int[] words, int[] f0, int[] f1, int[] f2, int[] f3, int count) {
    for (int i = 0; i < count; i++) {
      int v = words[i] ^ ScalarGemm.LIFT;
      words[i] = v * f0[i] + (v >> 8) * f1[i] + (v >> 16) * f2[i] + (v >> 24) * f3[i];
    }
  }

  private static void add(
      int[] products, int group, int excess, float[] scales, float scale, float[] totals) {
    int at = group * GROUP_WORDS;
    for (int row = 0; row < TILE_ROWS; row++) {
      int i = at + row;
      int lower = products[i] + products[i + 16] + products[i + 32] + products[i + 48];
      int upper = products[i + 64] + products[i + 80] + products[i + 96] + products[i + 112];
      float sum = lower + upper - excess;
      totals[row] = Math.fma(sum, scales[row] * scale, totals[row]);
    }
  }
}
