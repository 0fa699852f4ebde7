package dev.kvasir.kernel;

import java.util.Random;

/** What was laid into a coded matrix, in plain arrays. */
record CodedRows(
    byte[][] codes, // (rows, columns)
    float[][] scales, // (rows, groups)
    float[][] minimums) { // (rows, groups)

  /** Fills every row of a matrix, the last one first. */
  static CodedRows random(CodedMatrix matrix, Random random) {
    CodedRows all =
        new CodedRows(
            new byte[matrix.rows()][matrix.columns()],
            new float[matrix.rows()][matrix.groups()],
            new float[matrix.rows()][matrix.groups()]);
    for (int row = matrix.rows() - 1; row >= 0; row--) {
      for (int i = 0; i < matrix.columns(); i++) {
        all.codes[row][i] =
            (byte) (matrix.codeBits() == 8 ? random.nextInt(-128, 128) : random.nextInt(16));
      }
      for (int group = 0; group < matrix.groups(); group++) {
        all.scales[row][group] = random.nextFloat(-0.1f, 0.1f);
        all.minimums[row][group] = random.nextFloat(-1, 1);
      }
      matrix.setRow(row, all.codes[row], all.scales[row], all.minimums[row]);
    }
    return all;
  }

  /** The value that a code stands for. */
  double value(CodedMatrix matrix, int row, int column) {
    int group = column / matrix.groupLength();
    double minimum = matrix.hasMinimums() ? minimums[row][group] : 0;
    return (double) scales[row][group] * codes[row][column] + minimum;
  }
}
