package dev.kvasir.simd;

import dev.kvasir.kernel.CodeBands;
import dev.kvasir.kernel.ComposedRowCodes;
import dev.kvasir.kernel.FloatKernels;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodes;
import java.lang.foreign.MemorySegment;

/** Rows of codes of many widths on the Vector API. */
final class VectorRowCodes implements ComposedRowCodes {
  private final FloatKernels floats;

  VectorRowCodes(FloatKernels floats) {
    this.floats = floats;
  }

  @Override
  public FloatKernels floats() {
    return floats;
  }

  @Override
  public void decode(
      MemorySegment source,
      long offset,
      CodeBands bands,
      NibbleRows base,
      float[] lows,
      byte[] tokens,
      int[] picked,
      float[] out) {
    int from = 0;
    long at = offset;
    for (int band = 0; band < bands.bands(); band++) {
      RowCodes codes = bands.layout(band);
      int count = bands.counts()[band];
      for (int channel = 0; channel < codes.width(); channel += CodeRows.CHANNELS) {
        CodeRows.decode(source, at, codes, channel, tokens, from, count, base, lows, picked, out);
      }
      at += (long) count * codes.rowBytes();
      from += count;
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
