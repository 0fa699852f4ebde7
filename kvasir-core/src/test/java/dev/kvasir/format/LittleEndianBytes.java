package dev.kvasir.format;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** A growing little-endian buffer, with overwrites to make files invalid. */
public final class LittleEndianBytes {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  LittleEndianBytes int8(int value) {
    bytes.write(value);
    return this;
  }

  LittleEndianBytes int16(int value) {
    return int8(value).int8(value >> 8);
  }

  LittleEndianBytes int32(int value) {
    return int16(value).int16(value >> 16);
  }

  LittleEndianBytes int64(long value) {
    return int32((int) value).int32((int) (value >> 32));
  }

  /** Appends a 64-bit length and that many bytes of UTF-8. */
  LittleEndianBytes string(String value) {
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    return int64(utf8.length).raw(utf8);
  }

  LittleEndianBytes raw(byte... values) {
    bytes.writeBytes(values);
    return this;
  }

  /** Appends zeros up to the next multiple of {@code alignment}. */
  LittleEndianBytes padTo(int alignment) {
    while (bytes.size() % alignment != 0) {
      bytes.write(0);
    }
    return this;
  }

  int size() {
    return bytes.size();
  }

  byte[] toArray() {
    return bytes.toByteArray();
  }

  /** Returns a copy of {@code file} with another 32-bit number at {@code offset}. */
  static byte[] withInt32(byte[] file, int offset, int value) {
    byte[] copy = file.clone();
    ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN).putInt(offset, value);
    return copy;
  }

  /** Returns a copy of {@code file} with another 64-bit number at {@code offset}. */
  static byte[] withInt64(byte[] file, int offset, long value) {
    byte[] copy = file.clone();
    ByteBuffer.wrap(copy).order(ByteOrder.LITTLE_ENDIAN).putLong(offset, value);
    return copy;
  }

  /** Returns the bytes of floats. */
  public static byte[] ofFloats(float... values) {
    ByteBuffer buffer = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    for (float value : values) {
      buffer.putFloat(value);
    }
    return buffer.array();
  }
}
