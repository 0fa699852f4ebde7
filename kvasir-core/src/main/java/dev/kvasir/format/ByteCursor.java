package dev.kvasir.format;

import dev.kvasir.error.InvalidInputException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * Reads little-endian values in sequence. Every read is checked against the end first, so an
 * invalid length causes an error message and never an allocation of that length.
 */
final class ByteCursor {
  /** Bytes that are copied at a time. */
  private static final int BUFFER_BYTES = 1 << 16;

  private final String fileName;
  private final MemorySegment bytes;
  private final long end;
  private long position;
  private byte[] buffer = {}; // content from bufferStart on
  private long bufferStart;

  /** Reads {@code bytes} from the start, up to {@code maxBytes}. */
  ByteCursor(String fileName, MemorySegment bytes, long maxBytes) {
    this.fileName = fileName;
    this.bytes = bytes;
    this.end = Math.min(bytes.byteSize(), maxBytes);
  }

  long position() {
    return position;
  }

  long remaining() {
    return end - position;
  }

  byte int8(String what) {
    return (byte) integer(Byte.BYTES, what);
  }

  short int16(String what) {
    return (short) integer(Short.BYTES, what);
  }

  int int32(String what) {
    return (int) integer(Integer.BYTES, what);
  }

  long int64(String what) {
    return integer(Long.BYTES, what);
  }

  private long integer(int length, String what) {
    int first = next(length, what);
    long value = 0;
    for (int i = first + length - 1; i >= first; i--) {
      value = value << Byte.SIZE | buffer[i] & 0xFF;
    }
    return value;
  }

  /**
   * Reads an unsigned 64-bit count of items of at least {@code minBytesEach}; rejects more than the
   * rest can hold.
   */
  int count(String what, long minBytesEach) {
    return count("", what, minBytesEach);
  }

  /** The prefix is only added in messages, since every token of a vocabulary has a length. */
  private int count(String prefix, String what, long minBytesEach) {
    if (remaining() < Long.BYTES) {
      throw missing(Long.BYTES, prefix + what);
    }
    long at = position;
    long count = int64(what);
    long max = Math.min(remaining() / minBytesEach, Integer.MAX_VALUE);
    if (count < 0 || count > max) {
      throw new InvalidInputException(
          "%s: %s%s at byte %d is %s; there is room for at most %d"
              .formatted(fileName, prefix, what, at, Long.toUnsignedString(count), max));
    }
    return (int) count;
  }

  /** Reads a string with a 64-bit length; invalid UTF-8 becomes U+FFFD. */
  String string(String what) {
    int length = count("the length of ", what, 1);
    int first = next(length, what);
    return new String(buffer, first, length, StandardCharsets.UTF_8);
  }

  /** Returns the start of a message about a part of the file. */
  String at(String place) {
    return fileName + ": " + place;
  }

  InvalidInputException malformed(String what) {
    return new InvalidInputException(at(what));
  }

  /**
   * Returns the position of the next bytes in the buffer and skips them. Vocabularies are read
   * before JIT compilation, when a segment is ten times slower than an array.
   */
  private int next(int length, String what) {
    if (length > remaining()) {
      throw missing(length, what);
    }
    if (position + length > bufferStart + buffer.length) {
      long copied = Math.min(Math.max(length, BUFFER_BYTES), remaining());
      buffer = bytes.asSlice(position, copied).toArray(ValueLayout.JAVA_BYTE);
      bufferStart = position;
    }
    int at = (int) (position - bufferStart);
    position += length;
    return at;
  }

  private InvalidInputException missing(int length, String what) {
    String found = "%s at byte %d needs %d bytes".formatted(what, position, length);
    return malformed(
        end == bytes.byteSize()
            ? "truncated: %s, and the file ends at byte %d".formatted(found, end)
            : "%s, and the head of a file may take at most %d".formatted(found, end));
  }
}
