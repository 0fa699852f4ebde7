package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Rows of codes in plain Java: the definition, to the last bit. */
final class ScalarRowCodes implements RowCodeKernels {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

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
    for (int row = 0; row < count; row++) {
      int token = tokens[from + row];
      int at = token * codes.width();
      base.expand(picked[token], out, at);
      add(source, offset + (long) row * codes.rowBytes(), codes, out, at);
    }
  }

  private static void add(MemorySegment source, long row, RowCodes codes, float[] out, int at) {
    float scale = RowCodes.scale(source.get(ValueLayout.JAVA_BYTE, row) & RowCodes.SCALES - 1);
    int[] offsets = codes.offsets();
    int[] bits = codes.bits();
    float[] halves = codes.halves();
    for (int i = 0; i < offsets.length; i++) {
      int word = Short.toUnsignedInt(source.get(SHORT, row + (offsets[i] >> 3)));
      int steps = 1 << bits[i];
      int code = word >> (offsets[i] & 7) & steps - 1;
      out[at + i] = Math.fma((2 * code + 1 - steps) * halves[i], scale, out[at + i]);
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
      long first = offset + (long) Short.BYTES * stride * picked[token];
      for (int i = 0; i < width; i++) {
        out[token * width + i] =
            Float.float16ToFloat(source.get(SHORT, first + (long) Short.BYTES * i));
      }
    }
  }

  @Override
  public void turnEach(float[] rows, int count, int pairs, float[] cosines, float[] sines) {
    for (int row = 0; row < count; row++) {
      int at = row * 2 * pairs;
      int angle = row * pairs;
      for (int i = 0; i < pairs; i++) {
        float x = rows[at + i];
        float y = rows[at + pairs + i];
        rows[at + i] = Math.fma(-y, sines[angle + i], x * cosines[angle + i]);
        rows[at + pairs + i] = Math.fma(x, sines[angle + i], y * cosines[angle + i]);
      }
    }
  }
}
