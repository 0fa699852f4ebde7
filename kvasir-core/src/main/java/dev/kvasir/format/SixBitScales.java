package dev.kvasir.format;

import static dev.kvasir.format.BlockReader.unsignedByte;

import java.lang.foreign.MemorySegment;

/**
 * Eight scales and eight minimums of 6 bits, as the 12 bytes of Q4_K and Q5_K.
 *
 * <pre>
 *   byte g, g &lt; 4        bits 5..0 = scale g                 bits 7..6 = scale g + 4, high two
 *   byte 4 + g, g &lt; 4    bits 5..0 = minimum g               bits 7..6 = minimum g + 4, high two
 *   byte 8 + g, g &lt; 4    bits 3..0 = scale g + 4, low four   bits 7..4 = minimum g + 4, low four
 *   bytes = 8 * (6 + 6) / 8 = 12
 * </pre>
 */
public final class SixBitScales {
  private SixBitScales() {}

  /**
   * Returns the scale of a group.
   *
   * @param at offset of the 12 bytes
   */
  public static int scale(MemorySegment source, long at, int group) {
    int first = unsignedByte(source, at + group % 4);
    return group < 4 ? first & 63 : unsignedByte(source, at + 4 + group) & 15 | first >>> 6 << 4;
  }

  /** Returns the minimum of a group, as {@link #scale} does. */
  public static int minimum(MemorySegment source, long at, int group) {
    int first = unsignedByte(source, at + 4 + group % 4);
    return group < 4 ? first & 63 : unsignedByte(source, at + 4 + group) >>> 4 | first >>> 6 << 4;
  }
}
