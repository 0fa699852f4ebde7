package dev.kvasir.format;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The reads that every block layout is made of: little-endian whatever the machine, and unaligned
 * because most block sizes (18, 34, 110 bytes) keep no alignment beyond 2.
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

  /** The bits of a half with the other sign. */
  static short negatedHalf(MemorySegment source, long offset) {
    return (short) (source.get(SHORT, offset) ^ 0x8000);
  }

  static int unsignedByte(MemorySegment source, long offset) {
    return source.get(ValueLayout.JAVA_BYTE, offset) & 0xFF;
  }
}
