package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.RopeTable;

/**
 * A head's key codebook rounded to bytes. The rounding is exact for the search: codes are chosen
 * with the same numbers that attention adds.
 *
 * @param codebook the codebook with the rounded numbers
 * @param codebooks the bytes, pair by pair
 */
record Int8KeyCodebook(KeyCodebook codebook, Int8Codebooks codebooks) {
  private static final int ROWS = AdditiveStages.ROWS;
  private static final int LARGEST = 127;

  static Int8KeyCodebook of(KeyCodebook trained, RopeTable table) {
    float[] units = units(trained);
    KeyCodebook rounded = rounded(trained, units);
    return new Int8KeyCodebook(rounded, fixed(rounded, units, table.pairs()));
  }

  /** Returns the unit of each pair, such that its largest number is {@link #LARGEST} units. */
  private static float[] units(KeyCodebook codebook) {
    int half = codebook.length() / 2;
    float[] units = new float[half];
    float[] numbers = codebook.numbers();
    for (int i = 0; i < numbers.length; i++) {
      units[i % half] = Math.max(units[i % half], Math.abs(numbers[i]));
    }
    for (int pair = 0; pair < half; pair++) {
      units[pair] /= LARGEST;
    }
    return units;
  }

  private static KeyCodebook rounded(KeyCodebook codebook, float[] units) {
    float[] numbers = codebook.numbers();
    for (int i = 0; i < numbers.length; i++) {
      float unit = units[i % units.length];
      numbers[i] = unit == 0 ? 0 : Math.round(numbers[i] / unit) * unit;
    }
    return new KeyCodebook(codebook.mean(), codebook.stages().used(), numbers);
  }

  private static Int8Codebooks fixed(KeyCodebook codebook, float[] units, int pairs) {
    int half = units.length;
    int sets = 2 * codebook.stages().stages();
    float[] padded = new float[pairs];
    float[] mean = new float[2 * pairs];
    System.arraycopy(units, 0, padded, 0, half);
    System.arraycopy(codebook.mean(), 0, mean, 0, half);
    System.arraycopy(codebook.mean(), half, mean, pairs, half);
    byte[] bytes = new byte[sets * ROWS * 2 * pairs];
    float[] rows = codebook.stages().rows(); // (sets, ROWS, x and y, half)
    for (int row = 0; row < sets * ROWS; row++) {
      for (int pair = 0; pair < pairs; pair++) {
        int x = row * 2 * half + pair;
        boolean real = pair < half && units[pair] != 0;
        bytes[2 * (row * pairs + pair)] = number(real ? rows[x] / units[pair] : 0);
        bytes[2 * (row * pairs + pair) + 1] = number(real ? rows[x + half] / units[pair] : 0);
      }
    }
    return new Int8Codebooks(sets, pairs, bytes, padded, mean);
  }

  private static byte number(float units) {
    return (byte) (Math.round(units) + Int8Codebooks.ZERO_POINT);
  }
}
