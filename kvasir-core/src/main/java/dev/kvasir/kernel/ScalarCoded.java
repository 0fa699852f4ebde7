package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Products with coded weights in plain Java: the definition, to the last bit, for both layouts. */
final class ScalarCoded implements CodedKernels {
  private static final int TILE_ROWS = CodedMatrix.TILE_ROWS;

  @Override
  public CodedLayout layout() {
    return CodedLayout.LANES;
  }

  @Override
  public void begin(CodedRows rows, int count, int columns) {
    rows.begin(count, columns);
  }

  @Override
  public void prepare(CodedRows rows, float[] x, int first, int end) {
    for (int row = first; row < end; row++) {
      rows.code(row, x, row * rows.columns());
    }
  }

  /**
   * A tile's codes are copied to an array first: until code is compiled, reading a segment value by
   * value is slower by an order of magnitude than reading an array.
   */
  @Override
  public void products(
      CodedMatrix matrix,
      int firstTile,
      int endTile,
      CodedRows rows,
      int firstRow,
      int endRow,
      float[] out,
      TileRoom room) {
    int tileBytes = (int) matrix.codesOffset(1);
    byte[] bytes = room.bytes(tileBytes);
    byte[] codes = room.codes(matrix.columns());
    for (int tile = firstTile; tile < endTile; tile++) {
      long from = matrix.codesOffset(tile);
      MemorySegment.copy(matrix.codes(), ValueLayout.JAVA_BYTE, from, bytes, 0, tileBytes);
      int count = Math.min(TILE_ROWS, matrix.rows() - tile * TILE_ROWS);
      for (int r = 0; r < count; r++) {
        matrix.layout().take(bytes, r, matrix.columns(), matrix.codeBits(), codes);
        int to = tile * TILE_ROWS + r;
        for (int i = firstRow; i < endRow; i++) {
          out[i * matrix.rows() + to] = product(matrix, to, codes, rows, i);
        }
      }
    }
  }

  private static float product(
      CodedMatrix matrix, int row, byte[] codes, CodedRows rows, int activations) {
    int length = matrix.groupLength();
    int scalesAt = rows.scalesAt(activations);
    float total = 0;
    for (int group = 0; group < matrix.groups(); group++) {
      int column = group * length;
      int sum = dot(codes, column, rows.codes(), rows.codesAt(activations) + column, length);
      float scale = rows.scales()[scalesAt + column / CodedRows.GROUP];
      total = Math.fma((float) sum, matrix.scale(row, group) * scale, total);
    }
    if (matrix.hasMinimums()) {
      float[] sums = rows.sums();
      int at = rows.sumsAt(activations);
      for (int group = 0; group < matrix.groups(); group++) {
        float sum =
            length == CodedRows.SUM_GROUP
                ? sums[at + group]
                : sums[at + 2 * group] + sums[at + 2 * group + 1];
        total = Math.fma(matrix.minimum(row, group), sum, total);
      }
    }
    return total;
  }

  private static int dot(byte[] a, int aAt, byte[] b, int bAt, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++) {
      sum += a[aAt + i] * b[bAt + i];
    }
    return sum;
  }

  @Override
  public void expand(CodedMatrix matrix, int firstRow, int count, float[] out, int outAt) {
    for (int r = 0; r < count; r++) {
      matrix.expandRow(firstRow + r, out, outAt + r * matrix.columns());
    }
  }
}
