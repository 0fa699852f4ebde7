package dev.kvasir.format;

/** Reads metadata values of a GGUF file by type. */
final class GgufValues {
  private static final int UINT8 = 0;
  private static final int INT8 = 1;
  private static final int UINT16 = 2;
  private static final int INT16 = 3;
  private static final int UINT32 = 4;
  private static final int INT32 = 5;
  private static final int FLOAT32 = 6;
  private static final int BOOL = 7;
  private static final int STRING = 8;
  private static final int ARRAY = 9;
  private static final int UINT64 = 10;
  private static final int INT64 = 11;
  private static final int FLOAT64 = 12;

  /**
   * Known files nest arrays at most twice; a malicious one could nest until the stack overflows.
   */
  private static final int MAX_ARRAY_DEPTH = 4;

  private GgufValues() {}

  /** Reads the next value; {@code name} is for messages. */
  static Object read(ByteCursor cursor, String name) {
    String key = "'" + name + "'";
    return read(cursor, key, cursor.int32("the type of " + key), 0);
  }

  private static Object read(ByteCursor cursor, String key, int type, int depth) {
    return switch (type) {
      case FLOAT32 -> (double) Float.intBitsToFloat(cursor.int32(key));
      case FLOAT64 -> Double.longBitsToDouble(cursor.int64(key));
      case BOOL -> bool(cursor, key);
      case STRING -> cursor.string(key);
      case ARRAY -> array(cursor, key, depth + 1);
      default -> integer(cursor, key, type);
    };
  }

  private static long integer(ByteCursor cursor, String key, int type) {
    return switch (type) {
      case UINT8 -> cursor.int8(key) & 0xFFL;
      case INT8 -> cursor.int8(key);
      case UINT16 -> cursor.int16(key) & 0xFFFFL;
      case INT16 -> cursor.int16(key);
      case UINT32 -> cursor.int32(key) & 0xFFFFFFFFL;
      case INT32 -> cursor.int32(key);
      case UINT64, INT64 -> cursor.int64(key);
      default -> throw unknownType(cursor, key, type);
    };
  }

  private static boolean bool(ByteCursor cursor, String key) {
    byte value = cursor.int8(key);
    if (value != 0 && value != 1) {
      throw cursor.malformed("%s is %d; a boolean is 0 or 1".formatted(key, value & 0xFF));
    }
    return value == 1;
  }

  private static Object array(ByteCursor cursor, String key, int depth) {
    if (depth > MAX_ARRAY_DEPTH) {
      throw cursor.malformed("%s nests arrays deeper than %d".formatted(key, MAX_ARRAY_DEPTH));
    }
    int type = cursor.int32("the element type of " + key);
    int count = cursor.count("the length of " + key, minBytes(cursor, key, type));
    return switch (type) {
      case FLOAT32, FLOAT64 -> {
        float[] floats = new float[count];
        for (int i = 0; i < count; i++) {
          floats[i] = ((Double) read(cursor, key, type, depth)).floatValue();
        }
        yield floats;
      }
      case BOOL -> {
        boolean[] flags = new boolean[count];
        for (int i = 0; i < count; i++) {
          flags[i] = bool(cursor, key);
        }
        yield flags;
      }
      case STRING -> {
        String[] strings = new String[count];
        for (int i = 0; i < count; i++) {
          strings[i] = cursor.string(key);
        }
        yield strings;
      }
      case ARRAY -> {
        Object[] arrays = new Object[count];
        for (int i = 0; i < count; i++) {
          arrays[i] = array(cursor, key, depth + 1);
        }
        yield arrays;
      }
      default -> {
        long[] integers = new long[count];
        for (int i = 0; i < count; i++) {
          integers[i] = integer(cursor, key, type);
        }
        yield integers;
      }
    };
  }

  private static int minBytes(ByteCursor cursor, String key, int type) {
    return switch (type) {
      case UINT8, INT8, BOOL -> 1;
      case UINT16, INT16 -> 2;
      case UINT32, INT32, FLOAT32 -> 4;
      case UINT64, INT64, FLOAT64, STRING -> 8;
      case ARRAY -> 12;
      default -> throw unknownType(cursor, key, type);
    };
  }

  private static RuntimeException unknownType(ByteCursor cursor, String key, int type) {
    return cursor.malformed(
        "%s has value type %s; expected 0 to 12".formatted(key, Integer.toUnsignedString(type)));
  }
}
