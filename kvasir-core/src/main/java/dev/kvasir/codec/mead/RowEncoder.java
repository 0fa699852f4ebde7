package dev.kvasir.codec.mead;

import dev.kvasir.kernel.RowCodeLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Quantizes the prediction residual of a vector. Its scale is the deviation of its coded channels,
 * or one of the two neighbouring scales if that leaves less error.
 */
final class RowEncoder {
  private static final double MIN_DEVIATION = 1e-3;
  private static final double LOG_2 = StrictMath.log(2);

  private final byte[] row;
  private final int[] codes; // (width)
  private final int[] best; // (width)

  /**
   * @param maxChannels most channels of a vector
   */
  RowEncoder(int maxChannels) {
    this.row = new byte[maxChannels * RowCodeLayout.MAX_BITS / Byte.SIZE + 1];
    this.codes = new int[maxChannels];
    this.best = new int[maxChannels];
  }

  /**
   * @param x residual from {@code at} on; overwritten by the quantization error
   * @param weights how much an error of each channel counts
   * @param byteStride distance between consecutive bytes of the row
   */
  void encode(
      RowCodeLayout layout,
      float[] x,
      int at,
      float[] weights,
      MemorySegment out,
      long offset,
      int byteStride) {
    if (layout.rowBytes() == 0) {
      return;
    }
    int initial = initialScale(layout, x, at);
    int chosen = initial;
    double least = Double.POSITIVE_INFINITY;
    for (int scale = Math.max(0, initial - 1);
        scale <= Math.min(RowCodeLayout.SCALES - 1, initial + 1);
        scale++) {
      double left = encodeWith(layout, x, at, weights, RowCodeLayout.scale(scale));
      if (left < least) {
        least = left;
        chosen = scale;
        System.arraycopy(codes, 0, best, 0, layout.width());
      }
    }
    subtract(layout, RowCodeLayout.scale(chosen), x, at);
    write(layout, chosen, out, offset, byteStride);
  }

  private static int initialScale(RowCodeLayout layout, float[] x, int at) {
    double sum = 0;
    int codedChannels = 0;
    for (int i = 0; i < layout.width(); i++) {
      if (layout.bits(i) > 0) {
        double ofDeviation =
            x[at + i] * UnitVarianceSteps.step(layout.bits(i)) / (2 * layout.halfStep(i));
        sum += ofDeviation * ofDeviation;
        codedChannels++;
      }
    }
    return scaleOf(Math.sqrt(sum / Math.max(1, codedChannels)));
  }

  /** Returns the scale that is nearest to a deviation. */
  static int scaleOf(double measured) {
    double deviation = Math.max(measured, MIN_DEVIATION);
    long steps = (long) Math.rint(StrictMath.log(deviation) / (LOG_2 * RowCodeLayout.OCTAVES));
    return (int) Math.clamp(steps + RowCodeLayout.SCALE_OF_ONE, 0, RowCodeLayout.SCALES - 1L);
  }

  /** Encodes with a scale and returns the weighted squared error. */
  private double encodeWith(RowCodeLayout layout, float[] x, int at, float[] weights, float scale) {
    double left = 0;
    for (int i = 0; i < layout.width(); i++) {
      int bits = layout.bits(i);
      if (bits > 0) {
        int middle = 1 << bits - 1;
        float step = 2 * layout.halfStep(i) * scale;
        int code = (int) Math.clamp(Math.floor(x[at + i] / step) + middle, 0, 2 * middle - 1);
        codes[i] = code;
        double lost = (x[at + i] - layout.value(i, code, scale)) * (double) weights[i];
        left += lost * lost;
      }
    }
    return left;
  }

  private void subtract(RowCodeLayout layout, float scale, float[] x, int at) {
    for (int i = 0; i < layout.width(); i++) {
      if (layout.bits(i) > 0) {
        x[at + i] -= layout.value(i, best[i], scale);
      }
    }
  }

  private void write(
      RowCodeLayout layout, int scale, MemorySegment out, long offset, int byteStride) {
    Arrays.fill(row, 0, layout.rowBytes(), (byte) 0);
    row[0] = (byte) scale;
    for (int i = 0; i < layout.width(); i++) {
      if (layout.bits(i) > 0) {
        int place = layout.offset(i);
        int shifted = best[i] << (place & 7);
        row[place >> 3] |= (byte) shifted;
        if (shifted >> Byte.SIZE != 0) {
          row[(place >> 3) + 1] |= (byte) (shifted >> Byte.SIZE);
        }
      }
    }
    for (int i = 0; i < layout.rowBytes(); i++) {
      out.set(ValueLayout.JAVA_BYTE, offset + (long) byteStride * i, row[i]);
    }
  }
}
