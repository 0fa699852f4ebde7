package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/** Rows of codes that become vectors first, all of them, and are multiplied then. */
public interface ComposedRowCodes extends RowCodeKernels {
  /** What multiplies. */
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
    ColumnSums.add(source, offset, bands, base, lows, tokens, picked, w, wRows, room, out);
  }
}
