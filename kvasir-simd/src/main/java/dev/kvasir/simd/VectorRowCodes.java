package dev.kvasir.simd;

import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowCodes;
import java.lang.foreign.MemorySegment;

/** Rows of codes of many widths on the Vector API. */
final class VectorRowCodes implements RowCodeKernels {
  @Override
  public void decode(
      MemorySegment source,
      long offset,
      RowCodes codes,
      byte[] tokens,
      int from,
      int count,
      NibbleRows base,
      int[] picked,
      float[] out) {
    for (int channel = 0; channel < codes.width(); channel += CodeRows.CHANNELS) {
      CodeRows.decode(source, offset, codes, channel, tokens, from, count, base, picked, out);
    }
  }

  @Override
  public void gather(
      MemorySegment source,
      long offset,
      int stride,
      int[] picked,
      int count,
      int width,
      float[] out) {
    for (int token = 0; token < count; token++) {
      long row = offset + (long) Short.BYTES * stride * picked[token];
      HalfFloats.expandHalf(source, row, out, token * width, width);
    }
  }

  @Override
  public void turnEach(float[] rows, int count, int pairs, float[] cosines, float[] sines) {
    CodeRows.turnEach(rows, count, pairs, cosines, sines);
  }
}
