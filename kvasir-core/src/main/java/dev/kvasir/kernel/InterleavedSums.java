package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Reference weighted sums of rows of codes in {@link InterleavedBytes}, added to rows of a table,
 * with weights rounded to integers. They define results to the last bit.
 *
 * <pre>
 * u = round(w * 32767 / max w)           of each row, for the table
 * v = round(w g * 32767 / max (w g))     with its scale g, for the codes
 *
 * out += (sum of w) * (low + 7.5 step)
 * out += (2 sum of u nibble - 15 sum of u) * (unit / 2 * step)
 * out += (2 sum of v code + (1 - 2^bits) sum of v) * (unit * half step), band after band
 * </pre>
 *
 * Sums of integers are exact in any order. The rounding error of the table weights is multiplied by
 * the middle of the table; codes are symmetric around zero and need no such term.
 */
final class InterleavedSums {
  private static final int LARGEST = 32767;
  private static final float MIN_LARGEST = 1e-30f;

  /** Adding this constant to a float below 2^22 leaves the nearest integer in the low bits. */
  private static final float ROUNDER = 12582912;

  private InterleavedSums() {}

  /**
   * Implements {@link RowCodeKernels#weightedSums}; the scratch array holds the integers of one row
   * of weights at a time.
   */
  static void add(RowCodeBlock codes, float[] w, int wRows, float[] scratch, float[] out) {
    CodeBands bands = codes.bands();
    bands.requireInterleavable();
    int rows = bands.rows();
    for (int r = 0; r < wRows; r++) {
      int to = r * bands.width();
      takeWeights(w, r * rows, codes.tokens(), rows, scratch);
      addMiddle(codes.base(), codes.lows(), PartialSums.sum(scratch, 0, rows), out, to);
      addTable(codes.base(), codes.tableRows(), rows, round(scratch, rows), scratch, out, to);
      takeWeights(w, r * rows, codes.tokens(), rows, scratch);
      scale(codes.source(), codes.offset(), bands, scratch);
      addCodes(codes, round(scratch, rows), scratch, out, to);
    }
  }

  private static void takeWeights(float[] w, int at, byte[] tokens, int rows, float[] scratch) {
    for (int row = 0; row < rows; row++) {
      scratch[row] = w[at + tokens[row]];
    }
  }

  private static void scale(MemorySegment source, long offset, CodeBands bands, float[] scratch) {
    int first = 0;
    long at = offset;
    for (int band = 0; band < bands.bands(); band++) {
      int rowBytes = bands.layout(band).rowBytes();
      int count = bands.counts()[band];
      for (int row = 0; row < count; row++) {
        float scale = 0;
        if (rowBytes > 0) {
          byte index =
              source.get(ValueLayout.JAVA_BYTE, at + InterleavedBytes.offset(row, rowBytes));
          scale = RowCodeLayout.scale(index & RowCodeLayout.SCALES - 1);
        }
        scratch[first + row] *= scale;
      }
      first += count;
      at += (long) count * rowBytes;
    }
  }

  /** Rounds weights to integers in place. Returns their unit. */
  private static float round(float[] scratch, int rows) {
    float largest = 0;
    for (int row = 0; row < rows; row++) {
      largest = scratch[row] > largest ? scratch[row] : largest;
    }
    float factor = largest >= MIN_LARGEST ? LARGEST / largest : 0;
    for (int row = 0; row < rows; row++) {
      float lifted = scratch[row] * factor + ROUNDER;
      scratch[row] = (short) (Float.floatToRawIntBits(lifted) - Float.floatToRawIntBits(ROUNDER));
    }
    return largest >= MIN_LARGEST ? largest / LARGEST : 0;
  }

  private static void addMiddle(NibbleRows base, float[] lows, float sum, float[] out, int to) {
    for (int i = 0; i < base.width(); i++) {
      out[to + i] = Math.fma(sum, Math.fma(7.5f, base.steps()[i], lows[i]), out[to + i]);
    }
  }

  private static void addTable(
      NibbleRows base,
      int[] tableRows,
      int rows,
      float unit,
      float[] scratch,
      float[] out,
      int to) {
    int middle = 15 * total(scratch, 0, rows);
    float half = unit * 0.5f;
    int upperTo = to + base.width() / 2;
    for (int i = 0; i < base.width() / 2; i++) {
      int lower = 0;
      int upper = 0;
      for (int row = 0; row < rows; row++) {
        int two = base.data().get(ValueLayout.JAVA_BYTE, (long) tableRows[row] * base.stride() + i);
        lower += (int) scratch[row] * (two & 15);
        upper += (int) scratch[row] * (two >> 4 & 15);
      }
      float step = base.steps()[i];
      float upperStep = base.steps()[base.width() / 2 + i];
      out[to + i] = Math.fma((float) (2 * lower - middle), half * step, out[to + i]);
      out[upperTo + i] = Math.fma((float) (2 * upper - middle), half * upperStep, out[upperTo + i]);
    }
  }

  private static int total(float[] scratch, int first, int end) {
    int total = 0;
    for (int row = first; row < end; row++) {
      total += (int) scratch[row];
    }
    return total;
  }

  private static void addCodes(
      RowCodeBlock codes, float unit, float[] scratch, float[] out, int to) {
    CodeBands bands = codes.bands();
    int first = 0;
    long at = codes.offset();
    for (int band = 0; band < bands.bands(); band++) {
      RowCodeLayout layout = bands.layout(band);
      int count = bands.counts()[band];
      int total = total(scratch, first, first + count);
      for (int i = 0; i < layout.width(); i++) {
        if (layout.bits(i) > 0) {
          int sum = 2 * sum(codes.source(), at, layout, i, count, scratch, first);
          sum += (1 - (1 << layout.bits(i))) * total;
          out[to + i] = Math.fma((float) sum, unit * layout.halfStep(i), out[to + i]);
        }
      }
      first += count;
      at += (long) count * layout.rowBytes();
    }
  }

  private static int sum(
      MemorySegment source,
      long at,
      RowCodeLayout layout,
      int channel,
      int count,
      float[] scratch,
      int first) {
    int bit = layout.offset(channel);
    int mask = (1 << layout.bits(channel)) - 1;
    boolean isSplit = layout.isSplit(channel);
    long column = at + (long) InterleavedBytes.ROWS * (bit >> 3);
    int sum = 0;
    for (int row = 0; row < count; row++) {
      long place = column + InterleavedBytes.offset(row, layout.rowBytes());
      int bits = Byte.toUnsignedInt(source.get(ValueLayout.JAVA_BYTE, place));
      if (isSplit) {
        bits |= source.get(ValueLayout.JAVA_BYTE, place + InterleavedBytes.ROWS) << Byte.SIZE;
      }
      sum += (int) scratch[first + row] * (bits >> (bit & 7) & mask);
    }
    return sum;
  }
}
