package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/** Rows of codes that become vectors first, all of them, and are multiplied or summed then. */
public interface ComposedRowCodes extends RowCodeKernels {
  /** What multiplies and sums. */
  FloatKernels floats();

  @Override
  default void products(
      MemorySegment source,
      long offset,
      CodeBands bands,
      NibbleRows base,
      float[] lows,
      byte[] tokens,
      int[] picked,
      float[] cosines,
      float[] sines,
      float[] a,
      int aRows,
      float[] room,
      float[] c) {
    int width = bands.width();
    int rows = bands.rows();
    decode(source, offset, bands, base, lows, tokens, picked, room);
    turnEach(room, rows, width / 2, cosines, sines);
    floats().products(a, 0, width, aRows, room, 0, width, rows, width, c, 0, rows);
  }

  @Override
  default void weightedSums(
      MemorySegment source,
      long offset,
      CodeBands bands,
      NibbleRows base,
      float[] lows,
      byte[] tokens,
      int[] picked,
      float[] w,
      int wRows,
      float[] room,
      float[] out) {
    int width = bands.width();
    int rows = bands.rows();
    int byRow = rows * width;
    decode(source, offset, bands, base, lows, InOrder.TOKENS, picked, room);
    for (int i = 0; i < wRows; i++) {
      for (int row = 0; row < rows; row++) {
        room[byRow + i * rows + row] = w[i * rows + tokens[row]];
      }
    }
    floats().weightedSums(room, byRow, rows, wRows, room, 0, width, rows, width, out, 0, width);
  }

  /** Rows stay where they are. */
  final class InOrder {
    private static final byte[] TOKENS = new byte[CodeBands.MOST_ROWS];

    static {
      for (int row = 0; row < TOKENS.length; row++) {
        TOKENS[row] = (byte) row;
      }
    }

    private InOrder() {}
  }
}
