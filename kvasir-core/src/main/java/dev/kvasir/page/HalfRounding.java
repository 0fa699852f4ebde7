package dev.kvasir.page;

/**
 * Directed rounding to half precision, so that a stored range always covers its values, and
 * rounding to bfloat16.
 */
public final class HalfRounding {
  private HalfRounding() {}

  /** Returns the largest half that is not above {@code x}. */
  public static short floor(float x) {
    short half = Float.floatToFloat16(x);
    return Float.float16ToFloat(half) > x ? below(half) : half;
  }

  /** Returns the smallest half that is not below {@code x}. */
  public static short ceil(float x) {
    short half = Float.floatToFloat16(x);
    return Float.float16ToFloat(half) < x ? above(half) : half;
  }

  /** Returns the nearest bfloat16, ties to even. */
  public static short toBfloat16(float x) {
    int bits = Float.floatToRawIntBits(x);
    return (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16);
  }

  /** Halves are ordered by magnitude as integers; the sign is the top bit. */
  private static short above(short half) {
    return half >= 0 ? (short) (half + 1) : half == Short.MIN_VALUE ? 1 : (short) (half - 1);
  }

  private static short below(short half) {
    return half < 0 ? (short) (half + 1) : half == 0 ? (short) 0x8001 : (short) (half - 1);
  }
}
