package dev.kvasir.page;

import java.util.Arrays;

/**
 * Uniform asymmetric quantization of a group of numbers, {@code value = step * code + zero}, with
 * scale and zero as halves. The zero is rounded down and the scale up to the next half. Every
 * number is therefore within half a step of its code, and the scale is zero only if the group is
 * constant.
 *
 * <p>Half precision has more digits than bfloat16, with which both roundings would widen the range
 * more.
 */
record UniformQuantizer(short scaleBits, short zeroBits, float unit, int highest) {
  private static final float LARGEST_HALF = 65504;

  /** The number before a half, which must not be rounded up. */
  private static final float BELOW_HALF = Math.nextDown(0.5f);

  /** Returns the quantizer of {@code count} numbers, {@code stride} apart. */
  static UniformQuantizer of(float[] x, int at, int stride, int count, int bits, ScaleSpan span) {
    int lowest = Integer.MAX_VALUE;
    int highest = Integer.MIN_VALUE;
    for (int i = 0; i < count; i++) {
      int place = ordered(Float.floatToRawIntBits(x[at + i * stride]));
      lowest = Math.min(lowest, place);
      highest = Math.max(highest, place);
    }
    float minimum = Float.intBitsToFloat(ordered(lowest));
    float maximum = Float.intBitsToFloat(ordered(highest));
    short zeroBits = HalfRounding.floor(minimum);
    float range = maximum - Float.float16ToFloat(zeroBits);
    // With one bit, the range may exceed the largest half; its upper end is then clipped.
    float scale = Math.min(range / span.parts(bits), LARGEST_HALF);
    return new UniformQuantizer(
        HalfRounding.ceil(scale), zeroBits, span.unit(bits), (1 << bits) - 1);
  }

  /**
   * Maps the bits of floats to integers in the same order, and back: comparing integers takes a
   * third of the time, since floats have two zeros and NaN.
   */
  private static int ordered(int bits) {
    return bits ^ bits >> 31 & Integer.MAX_VALUE;
  }

  /** Returns the distance of two codes. */
  float step() {
    return Float.float16ToFloat(scaleBits) * unit;
  }

  float zero() {
    return Float.float16ToFloat(zeroBits);
  }

  /** Quantizes the numbers of the group. */
  void quantize(float[] x, int at, int stride, int count, byte[] codes, int to, int codeStride) {
    float step = step();
    float zero = zero();
    for (int i = 0; i < count; i++) {
      codes[to + i * codeStride] = (byte) quantize(x[at + i * stride], step, zero);
    }
  }

  /** Quantizes contiguous numbers. */
  void quantize(float[] x, int at, int count, byte[] codes, int to) {
    float step = step();
    float zero = zero();
    if (step == 0) {
      Arrays.fill(codes, to, to + count, (byte) 0);
      return;
    }
    int maximum = highest;
    for (int i = 0; i < count; i++) {
      codes[to + i] = (byte) Math.min(round((x[at + i] - zero) / step), maximum);
    }
  }

  private int quantize(float x, float step, float zero) {
    return step == 0 ? 0 : Math.min(round((x - zero) / step), highest);
  }

  /**
   * Rounds as {@link Math#round(float)} does, in less than half the time: no number is below zero,
   * and all are below 2^22.
   */
  private static int round(float x) {
    return (int) (x + BELOW_HALF);
  }

  /** Quantizes contiguous numbers to 16 bits. */
  void quantize(float[] x, int at, int count, short[] codes, int to) {
    float step = step();
    float zero = zero();
    for (int i = 0; i < count; i++) {
      codes[to + i] = (short) quantize(x[at + i], step, zero);
    }
  }
}
