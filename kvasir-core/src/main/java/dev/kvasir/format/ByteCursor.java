package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/**
 * Reads little-endian values one after another. Every read is checked against the end first, so
 * that a lying length is answered with a sentence and never with an allocation of that length.
 */
final class ByteCursor {
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final String fileName;
  private final MemorySegment bytes;
  private final long end;
  private long position;

  /** Reads from the start of {@code bytes}, and refuses to go on after {@code mostBytes}. */
  ByteCursor(String fileName, MemorySegment bytes, long mostBytes) {
    this.fileName = fileName;
    this.bytes = bytes;
    this.end = Math.min(bytes.byteSize(), mostBytes);
  }

  long position() {
    return position;
  }

  long remaining() {
    return end - position;
  }

  byte int8(String what) {
    return bytes.get(ValueLayout.JAVA_BYTE, advance(1, what));
  }

  short int16(String what) {
    return bytes.get(SHORT, advance(2, what));
  }

  int int32(String what) {
    return bytes.get(INT, advance(4, what));
  }

  long int64(String what) {
    return bytes.get(LONG, advance(8, what));
  }

  /**
   * An unsigned 64-bit count of things that take at least {@code leastBytesEach}: refused when the
   * rest cannot hold that many.
   */
  int count(String what, long leastBytesEach) {
    long at = position;
    long count = int64(what);
    long most = Math.min(remaining() / leastBytesEach, Integer.MAX_VALUE);
    if (count < 0 || count > most) {
      throw new InvalidInputException(
          "%s: %s at byte %d is %s; there is room for at most %d"
              .formatted(fileName, what, at, Long.toUnsignedString(count), most));
    }
    return (int) count;
  }

  /** A string preceded by its 64-bit length; bytes that are not UTF-8 become U+FFFD. */
  String string(String what) {
    int length = count("the length of " + what, 1);
    byte[] utf8 = bytes.asSlice(advance(length, what), length).toArray(ValueLayout.JAVA_BYTE);
    return new String(utf8, StandardCharsets.UTF_8);
  }

  /** A place inside the file, as messages begin. */
  String at(String place) {
    return fileName + ": " + place;
  }

  InvalidInputException malformed(String what) {
    return new InvalidInputException(at(what));
  }

  private long advance(long length, String what) {
    if (length > remaining()) {
      String found = "%s at byte %d needs %d bytes".formatted(what, position, length);
      throw malformed(
          end == bytes.byteSize()
              ? "truncated: %s, and the file ends at byte %d".formatted(found, end)
              : "%s, and the head of a file may take at most %d".formatted(found, end));
    }
    long at = position;
    position += length;
    return at;
  }
}
