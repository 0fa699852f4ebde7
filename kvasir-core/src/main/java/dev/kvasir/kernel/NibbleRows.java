package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * A table of vectors with four bits a number, to look rows up in.
 *
 * <pre>
 * byte i of a row:  bits 0-3 number i   bits 4-7 number width / 2 + i
 * number = low + nibble * step, both of its channel
 * </pre>
 *
 * @param data (rows, width / 2)
 * @param width numbers of a row, a multiple of {@link RowCodes#LANES}
 * @param lows (width)
 * @param steps (width)
 */
public record NibbleRows(MemorySegment data, int width, float[] lows, float[] steps) {
  public NibbleRows {
    if (width % RowCodes.LANES != 0 || lows.length != width || steps.length != width) {
      throw new IllegalArgumentException(
          "%d numbers, %d lows, %d steps; expected as many, a multiple of %d"
              .formatted(width, lows.length, steps.length, RowCodes.LANES));
    }
  }

  public int rows() {
    return (int) (data.byteSize() / rowBytes());
  }

  public int rowBytes() {
    return width / 2;
  }

  public long bytes() {
    return data.byteSize() + 2L * Float.BYTES * width;
  }
}
