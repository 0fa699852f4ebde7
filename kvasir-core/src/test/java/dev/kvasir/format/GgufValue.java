package dev.kvasir.format;

/**
 * A GGUF metadata value: the number of its type, and its bytes. The constructor accepts anything,
 * so that tests can write invalid files.
 */
public record GgufValue(int type, byte[] bytes) {
  static final int STRING = 8;
  static final int ARRAY = 9;

  static GgufValue uint8(int value) {
    return new GgufValue(0, new LittleEndianBytes().int8(value).toArray());
  }

  static GgufValue int8(int value) {
    return new GgufValue(1, new LittleEndianBytes().int8(value).toArray());
  }

  static GgufValue uint16(int value) {
    return new GgufValue(2, new LittleEndianBytes().int16(value).toArray());
  }

  static GgufValue int16(int value) {
    return new GgufValue(3, new LittleEndianBytes().int16(value).toArray());
  }

  public static GgufValue uint32(long value) {
    return new GgufValue(4, new LittleEndianBytes().int32((int) value).toArray());
  }

  public static GgufValue int32(int value) {
    return new GgufValue(5, new LittleEndianBytes().int32(value).toArray());
  }

  public static GgufValue float32(float value) {
    return new GgufValue(6, LittleEndianBytes.ofFloats(value));
  }

  public static GgufValue bool(boolean value) {
    return new GgufValue(7, new LittleEndianBytes().int8(value ? 1 : 0).toArray());
  }

  public static GgufValue string(String value) {
    return new GgufValue(STRING, new LittleEndianBytes().string(value).toArray());
  }

  static GgufValue uint64(long value) {
    return new GgufValue(10, new LittleEndianBytes().int64(value).toArray());
  }

  static GgufValue int64(long value) {
    return new GgufValue(11, new LittleEndianBytes().int64(value).toArray());
  }

  static GgufValue float64(double value) {
    long bits = Double.doubleToRawLongBits(value);
    return new GgufValue(12, new LittleEndianBytes().int64(bits).toArray());
  }

  /** Returns an array of at least one element, all of one type; elements may be arrays. */
  public static GgufValue array(GgufValue first, GgufValue... others) {
    LittleEndianBytes elements = new LittleEndianBytes().raw(first.bytes);
    for (GgufValue other : others) {
      if (other.type != first.type) {
        throw new IllegalArgumentException(
            "an element has type %d, must be %d".formatted(other.type, first.type));
      }
      elements.raw(other.bytes);
    }
    return arrayOf(first.type, 1 + others.length, elements.toArray());
  }

  /** Returns an array with a declared count of {@code count}, regardless of its bytes. */
  static GgufValue arrayOf(int elementType, long count, byte... elements) {
    LittleEndianBytes bytes = new LittleEndianBytes().int32(elementType).int64(count).raw(elements);
    return new GgufValue(ARRAY, bytes.toArray());
  }

  public static GgufValue strings(String... values) {
    LittleEndianBytes elements = new LittleEndianBytes();
    for (String value : values) {
      elements.string(value);
    }
    return arrayOf(STRING, values.length, elements.toArray());
  }
}
