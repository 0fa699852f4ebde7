package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.FixedRows;
import dev.kvasir.kernel.TurnTable;

/** The codebook of a head's keys as attention adds it up: whole numbers, pair by pair. */
final class KeyRows {
  private final KeyCodebook codebook;
  private final TurnTable table;
  private final int half;

  private KeyRows(KeyCodebook codebook, TurnTable table) {
    this.codebook = codebook;
    this.table = table;
    this.half = codebook.headDim() / 2;
  }

  static FixedRows of(KeyCodebook codebook, TurnTable table) {
    return new KeyRows(codebook, table).fixed();
  }

  private FixedRows fixed() {
    int sets = 2 * codebook.stages().stages();
    int pairs = table.pairs();
    float[] units = new float[2 * pairs];
    float[] mean = new float[2 * pairs];
    short[] rows = new short[sets * FixedRows.ROWS * 2 * pairs];
    for (int channel = 0; channel < 2 * half; channel++) {
      int pair = channel % half;
      int side = channel / half;
      // Each of a sum's numbers may be rounded up by a half.
      float unit = largestSum(channel) / (Short.MAX_VALUE - sets);
      units[side * pairs + pair] = unit;
      mean[side * pairs + pair] = codebook.mean()[channel];
      for (int row = 0; row < sets * FixedRows.ROWS; row++) {
        int number = unit == 0 ? 0 : Math.round(number(row, channel) / unit);
        rows[row * 2 * pairs + 2 * pair + side] = (short) number;
      }
    }
    return new FixedRows(sets, pairs, rows, units, mean);
  }

  /** What a channel's sum can be at the most: the largest number of each set. */
  private float largestSum(int channel) {
    float sum = 0;
    for (int set = 0; set < 2 * codebook.stages().stages(); set++) {
      float largest = 0;
      for (int row = 0; row < FixedRows.ROWS; row++) {
        largest = Math.max(largest, Math.abs(number(set * FixedRows.ROWS + row, channel)));
      }
      sum += largest;
    }
    return sum;
  }

  private float number(int row, int channel) {
    return codebook.stages().rows()[row * codebook.headDim() + channel];
  }
}
