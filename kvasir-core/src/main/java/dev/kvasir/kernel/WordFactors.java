package dev.kvasir.kernel;

import java.util.Arrays;

/**
 * What a row of activations multiplies words of four codes with, see {@link ScalarGemm}: repeated
 * for the rows of a tile, so that a loop over a tile's words traverses words and factors in step.
 *
 * <pre>
 * run of columns | factor of a word 0..3 | word | row 0..15
 * </pre>
 */
final class WordFactors {
  /** Columns of a run, whose arrays stay in a processor's nearest caches. */
  static final int RUN = 512;

  static final int FACTORS = 4;
  private static final int TILE_ROWS = QuantizedWeights.TILE_ROWS;
  private static final int GROUP = QuantizedActivations.GROUP;

  private int[][][] factors = {}; // (runs, FACTORS, RUN / 4 * TILE_ROWS)
  private int[] excess = {}; // by group
  private boolean isSet;

  void clear() {
    isSet = false;
  }

  boolean isSet() {
    return isSet;
  }

  /** Returns the factors of a run. // (FACTORS, words * TILE_ROWS) */
  int[][] ofRun(int run) {
    return factors[run];
  }

  /** Returns what a group's sum has too much, because lower bytes of a word are unsigned. */
  int excess(int group) {
    return excess[group];
  }

  void set(byte[] codes, int at, int columns) {
    ensureCapacity(columns);
    for (int column = 0; column < columns; column += 4) {
      int to = column % RUN / 4 * TILE_ROWS;
      int[][] run = factors[column / RUN];
      int before = 0;
      for (int i = 0; i < FACTORS; i++) {
        int code = codes[at + column + i];
        Arrays.fill(run[i], to, to + TILE_ROWS, code - 256 * before);
        before = code;
      }
    }
    for (int group = 0; group < columns / GROUP; group++) {
      excess[group] = excess(codes, at + group * GROUP);
    }
    isSet = true;
  }

  private static int excess(byte[] codes, int at) {
    int sum = 0;
    for (int i = at; i < at + GROUP; i += 4) {
      sum += codes[i] + codes[i + 1] + codes[i + 2];
    }
    return 128 * sum;
  }

  private void ensureCapacity(int columns) {
    int runs = Math.ceilDiv(columns, RUN);
    int had = factors.length;
    if (had < runs) {
      factors = Arrays.copyOf(factors, runs);
      for (int run = had; run < runs; run++) {
        factors[run] = new int[FACTORS][RUN / 4 * TILE_ROWS];
      }
      excess = new int[runs * RUN / GROUP];
    }
  }
}
