package dev.kvasir.format;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Reads the fields of blocks: little-endian on every machine, and unaligned, since most block sizes
 * (18, 34, 110 bytes) are only multiples of 2.
 */
final class BlockReader {
  static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(LITTLE_ENDIAN);
  static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(LITTLE_ENDIAN);
  static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(LITTLE_ENDIAN);

  private BlockReader() {}

  static float half(MemorySegment source, long offset) {
    return Float.float16ToFloat(source.get(SHORT, offset));
  }

  /** Returns the bits of a half with the sign inverted. */
  static short negatedHalf(MemorySegment source, long offset) {
    return (short) (source.get(SHORT, offset) ^ 0x8000);
  }

  static int unsignedByte(MemorySegment source, long offset) {
    return source.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
  }
}
