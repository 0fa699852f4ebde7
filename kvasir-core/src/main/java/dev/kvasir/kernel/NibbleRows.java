package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * A lookup table of vectors with four bits per number.
 *
 * <pre>
 * byte i of a row:  bits 0-3 number i   bits 4-7 number width / 2 + i
 * number = low + nibble * step, both of its channel
 * </pre>
 *
 * @param data (rows, width / 2)
 * @param stride bytes from one row to the next
 * @param width numbers per row, a multiple of two {@link RowCodeLayout#VECTOR_WIDTH}
 * @param lows (width)
 * @param steps (width)
 */
public record NibbleRows(MemorySegment data, int stride, int width, float[] lows, float[] steps) {
  public NibbleRows {
    if (width % (2 * RowCodeLayout.VECTOR_WIDTH) != 0
        || lows.length != width
        || steps.length != width) {
      throw new IllegalArgumentException(
          "%d numbers, %d lows, %d steps; expected as many, a multiple of %d"
              .formatted(width, lows.length, steps.length, 2 * RowCodeLayout.VECTOR_WIDTH));
    }
  }

  public int rows() {
    return (int) ((data.byteSize() + stride - rowBytes()) / stride);
  }

  public int rowBytes() {
    return width / 2;
  }

  /**
   * Writes a row as floats. This defines the kernels' results to the last bit.
   *
   * @param out (width) from {@code at} on, set
   */
  public void dequantize(int row, float[] out, int at) {
    dequantize(row, lows, out, at);
  }

  /** Writes a row as floats with other lows. */
  void dequantize(int row, float[] lows, float[] out, int at) {
    int half = width / 2;
    long first = (long) row * stride;
    for (int i = 0; i < half; i++) {
      int two = data.get(ValueLayout.JAVA_BYTE, first + i);
      out[at + i] = Math.fma(two & 15, steps[i], lows[i]);
      out[at + half + i] = Math.fma(two >> 4 & 15, steps[half + i], lows[half + i]);
    }
  }

  public long bytes() {
    return (long) rows() * rowBytes() + 2L * Float.BYTES * width;
  }
}
