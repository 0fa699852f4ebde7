package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Reference kernels for 16-bit floats in plain Java, which define results to the last bit. */
final class ScalarHalves implements HalfKernels {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  @Override
  public void expand(DenseMatrix matrix, int firstRow, int count, float[] out, int outAt) {
    int values = count * matrix.columns();
    long offset = matrix.offset(firstRow);
    switch (matrix.precision()) {
      case F32 -> MemorySegment.copy(matrix.data(), FLOAT, offset, out, outAt, values);
      case F16 -> expand(matrix.data(), offset, out, outAt, values);
      case BF16 -> expandBrainHalf(matrix.data(), offset, out, outAt, values);
    }
  }

  private static void expandBrainHalf(
      MemorySegment source, long offset, float[] out, int outAt, int count) {
    for (int i = 0; i < count; i++) {
      out[outAt + i] = Float.intBitsToFloat(source.get(SHORT, offset + 2L * i) << 16);
    }
  }

  @Override
  public void expand(MemorySegment source, long offset, float[] out, int outAt, int count) {
    for (int i = 0; i < count; i++) {
      out[outAt + i] = Float.float16ToFloat(source.get(SHORT, offset + 2L * i));
    }
  }

  @Override
  public void products(
      float[] a, DenseMatrix b, int firstRow, RowBlock c, TileWorkspace workspace) {
    int columns = b.columns();
    float[] row = workspace.weights(columns);
    for (int j = 0; j < c.width(); j++) {
      expand(b, firstRow + j, 1, row, 0);
      for (int i = 0; i < c.rows(); i++) {
        c.values()[c.at(i) + j] = PartialSums.dot(a, i * columns, row, 0, columns);
      }
    }
  }

  /** Computes the sum over all tokens first, then adds it. */
  @Override
  public void weightedSums(RowBlock weights, DenseMatrix v, int firstRow, RowBlock out) {
    int columns = v.columns();
    int rows = weights.rows();
    out.requireShape(rows, columns);
    float[] scratch = RowScratch.of((rows + 1) * columns);
    Arrays.fill(scratch, columns, (rows + 1) * columns, 0);
    for (int t = 0; t < weights.width(); t++) {
      expand(v, firstRow + t, 1, scratch, 0);
      for (int i = 0; i < rows; i++) {
        float weight = weights.values()[weights.at(i) + t];
        int to = (i + 1) * columns;
        for (int d = 0; d < columns; d++) {
          scratch[to + d] = Math.fma(weight, scratch[d], scratch[to + d]);
        }
      }
    }
    for (int i = 0; i < rows; i++) {
      RowScratch.add(scratch, (i + 1) * columns, out.values(), out.at(i), columns);
    }
  }
}
