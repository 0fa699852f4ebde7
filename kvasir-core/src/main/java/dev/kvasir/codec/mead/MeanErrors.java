package dev.kvasir.codec.mead;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * The mean quantization error of a page's components, for one head. Each is four bits in two's
 * complement, in units from the profile, the first in the low bits.
 */
final class MeanErrors {
  private static final int MIN_CODE = -8;
  private static final int MAX_CODE = 7;

  private MeanErrors() {}

  static int bytesFor(int valueDim) {
    return Math.ceilDiv(valueDim, 2);
  }

  /**
   * @param means (valueDim) or more
   */
  static void write(HeadTables head, MeadSizes sizes, double[] means, MemorySegment out, long at) {
    for (int i = 0; i < sizes.valueDim(); i += 2) {
      int low = code(head, means, i);
      int high = i + 1 < sizes.valueDim() ? code(head, means, i + 1) : 0;
      out.set(ValueLayout.JAVA_BYTE, at + i / 2, (byte) (low & 15 | high << 4));
    }
  }

  private static int code(HeadTables head, double[] means, int i) {
    float unit = head.meanUnits()[i];
    return unit > 0 ? Math.clamp((long) Math.rint(means[i] / unit), MIN_CODE, MAX_CODE) : 0;
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @param out (valueWidth), set
   */
  static void read(HeadTables head, MeadSizes sizes, MemorySegment in, long at, float[] out) {
    float[] units = head.meanUnits();
    int even = sizes.valueDim() / 2 * 2;
    for (int i = 0; i < even; i += 2) {
      int both = in.get(ValueLayout.JAVA_BYTE, at + i / 2);
      out[i] = (both << 28 >> 28) * units[i];
      out[i + 1] = (both >> 4) * units[i + 1];
    }
    Arrays.fill(out, even, sizes.valueWidth(), 0);
    if (even < sizes.valueDim()) {
      out[even] = (in.get(ValueLayout.JAVA_BYTE, at + even / 2) << 28 >> 28) * units[even];
    }
  }
}
