package dev.kvasir.methods.vqllm;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.RowBlock;
import java.util.Arrays;

/**
 * Residual codebooks of a layer's keys or values: each stage encodes the residual of the previous
 * ones.
 *
 * @param rows (stages, ROWS, CHANNELS)
 */
public record ResidualCodebooks(float[] rows) {
  /** Rows of a codebook, as many as a byte can index. */
  public static final int ROWS = 256;

  /** Number of stages in a profile. */
  public static final int STAGES = 8;

  private static final int CHANNELS = ChannelGroups.CHANNELS;

  /** Returns the offset of a row. */
  static int at(int stage, int row) {
    return (stage * ROWS + row) * CHANNELS;
  }

  /**
   * Encodes vectors by the nearest row of each stage in turn.
   *
   * @param x (count, CHANNELS); overwritten by the residual
   * @param codes (count, stages), set
   */
  public void encode(Kernels kernels, float[] x, int count, int stages, byte[] codes) {
    float[] products = new float[count * ROWS];
    float[] halves = new float[ROWS];
    RowBlock vectorRows = RowBlock.of(x, count, CHANNELS);
    RowBlock stageRows = new RowBlock();
    RowBlock productRows = RowBlock.of(products, count, ROWS);
    for (int stage = 0; stage < stages; stage++) {
      for (int row = 0; row < ROWS; row++) {
        halves[row] = halfSquare(at(stage, row));
      }
      stageRows.set(rows, at(stage, 0), CHANNELS, ROWS, CHANNELS);
      kernels.floats().products(vectorRows, stageRows, productRows);
      for (int i = 0; i < count; i++) {
        int best = best(products, i * ROWS, halves);
        codes[i * stages + stage] = (byte) best;
        int from = at(stage, best);
        for (int c = 0; c < CHANNELS; c++) {
          x[i * CHANNELS + c] -= rows[from + c];
        }
      }
    }
  }

  /**
   * Sums the selected rows of all stages.
   *
   * @param codes (count, stages)
   * @param stages a multiple of four
   * @param sums (count, CHANNELS), set
   */
  void sums(byte[] codes, int count, int stages, float[] sums) {
    for (int i = 0; i < count; i++) {
      int to = i * CHANNELS;
      Arrays.fill(sums, to, to + CHANNELS, 0);
      for (int stage = 0; stage < stages; stage += 4) {
        int code = i * stages + stage;
        add(
            at(stage, Byte.toUnsignedInt(codes[code])),
            at(stage + 1, Byte.toUnsignedInt(codes[code + 1])),
            at(stage + 2, Byte.toUnsignedInt(codes[code + 2])),
            at(stage + 3, Byte.toUnsignedInt(codes[code + 3])),
            sums,
            to);
      }
    }
  }

  /** Adds four rows at a time, since the sums wait for memory. */
  private void add(int row0, int row1, int row2, int row3, float[] sums, int to) {
    for (int c = 0; c < CHANNELS; c++) {
      sums[to + c] =
          sums[to + c] + rows[row0 + c] + rows[row1 + c] + rows[row2 + c] + rows[row3 + c];
    }
  }

  private float halfSquare(int from) {
    float sum = 0;
    for (int i = from; i < from + CHANNELS; i++) {
      sum += rows[i] * rows[i];
    }
    return sum / 2;
  }

  private static int best(float[] products, int at, float[] halves) {
    int best = 0;
    for (int row = 1; row < ROWS; row++) {
      if (products[at + row] - halves[row] > products[at + best] - halves[best]) {
        best = row;
      }
    }
    return best;
  }

  long bytes() {
    return (long) Float.BYTES * rows.length;
  }

  int fingerprint() {
    return Arrays.hashCode(rows);
  }
}
