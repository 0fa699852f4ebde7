package dev.kvasir.kernel;

import java.util.Random;

/** The contents of quantized weights, in plain arrays. */
record ReferenceWeights(
    byte[][] codes, // (rows, columns)
    float[][] scales, // (rows, groups)
    float[][] minimums) { // (rows, groups)

  /** Returns codes of some bits, signed ones above five. */
  static WeightCodes coding(int bits) {
    return bits < 6
        ? WeightCodes.of(0, (1 << bits) - 1)
        : WeightCodes.of(-1 << bits - 1, (1 << bits - 1) - 1);
  }

  /** Fills every row of a matrix. */
  static ReferenceWeights random(QuantizedWeights matrix, Random random) {
    ReferenceWeights all =
        new ReferenceWeights(
            new byte[matrix.rows()][matrix.columns()],
            new float[matrix.rows()][matrix.groups()],
            new float[matrix.rows()][matrix.groups()]);
    for (int row = 0; row < matrix.rows(); row++) {
      for (int i = 0; i < matrix.columns(); i++) {
        int stored = random.nextInt(1 << matrix.coding().bits());
        all.codes[row][i] =
            (byte)
                (matrix.coding() == WeightCodes.BYTES
                    ? stored + Byte.MIN_VALUE
                    : matrix.coding().code(stored));
      }
      for (int group = 0; group < matrix.groups(); group++) {
        all.scales[row][group] = random.nextFloat(-0.1f, 0.1f);
        all.minimums[row][group] = random.nextFloat(-1, 1);
      }
    }
    all.writeTo(matrix);
    return all;
  }

  private void writeTo(QuantizedWeights matrix) {
    int columns = matrix.columns();
    int groups = matrix.groups();
    for (int tile = 0; tile < matrix.tiles(); tile++) {
      int first = tile * QuantizedWeights.TILE_ROWS;
      int count = Math.min(QuantizedWeights.TILE_ROWS, matrix.rows() - first);
      byte[] tileCodes = new byte[count * columns];
      float[] tileScales = new float[count * groups];
      float[] tileMinimums = new float[count * groups];
      for (int row = 0; row < count; row++) {
        System.arraycopy(codes[first + row], 0, tileCodes, row * columns, columns);
        System.arraycopy(scales[first + row], 0, tileScales, row * groups, groups);
        System.arraycopy(minimums[first + row], 0, tileMinimums, row * groups, groups);
      }
      matrix.setTile(tile, count, tileCodes, tileScales, tileMinimums);
    }
  }

  /** Returns the value of a code. */
  double value(QuantizedWeights matrix, int row, int column) {
    int group = column / matrix.groupLength();
    double minimum = matrix.hasMinimums() ? minimums[row][group] : 0;
    return (double) scales[row][group] * codes[row][column] + minimum;
  }
}
