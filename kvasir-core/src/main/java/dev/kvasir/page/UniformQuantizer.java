package dev.kvasir.page;

import java.util.Arrays;

/**
 * Uniform asymmetric codes of some numbers, {@code value = step * code + zero}, with scale and zero
 * as halves. The zero is rounded down and the scale up to the next half, so that every number lies
 * within half a step of its code, and a group has scale zero only if it truly is constant.
 *
 * <p>Halves and not brain halves: those have fewer digits, so both roundings would widen the range
 * more.
 */
record UniformQuantizer(short scaleBits, short zeroBits, float unit, int highest) {
  private static final float LARGEST_HALF = 65504;

  /** Of {@code count} numbers, {@code stride} apart. */
  static UniformQuantizer of(float[] x, int at, int stride, int count, int bits, ScaleSpan span) {
    float minimum = Float.POSITIVE_INFINITY;
    float maximum = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      minimum = Math.min(minimum, x[at + i * stride]);
      maximum = Math.max(maximum, x[at + i * stride]);
    }
    short zeroBits = HalfRounding.floor(minimum);
    float range = maximum - Float.float16ToFloat(zeroBits);
    // At one bit a range may be wider than the largest half; its upper end then comes back lower.
    float scale = Math.min(range / span.parts(bits), LARGEST_HALF);
    return new UniformQuantizer(
        HalfRounding.ceil(scale), zeroBits, span.unit(bits), (1 << bits) - 1);
  }

  /** From a code to the next. */
  float step() {
    return Float.float16ToFloat(scaleBits) * unit;
  }

  float zero() {
    return Float.float16ToFloat(zeroBits);
  }

  /** Codes the numbers that the group was made of. */
  void quantize(float[] x, int at, int stride, int count, byte[] codes, int to, int codeStride) {
    float step = step();
    float zero = zero();
    for (int i = 0; i < count; i++) {
      codes[to + i * codeStride] = (byte) quantize(x[at + i * stride], step, zero);
    }
  }

  /**
   * Codes numbers that lie together.
   *
   * @param room as many: compilers make vectors of a loop from floats to ints and of one from ints
   *     to bytes, and of none that does both
   */
  void quantize(float[] x, int at, int count, int[] scratch, byte[] codes, int to) {
    float step = step();
    float zero = zero();
    if (step == 0) {
      Arrays.fill(codes, to, to + count, (byte) 0);
      return;
    }
    int maximum = highest;
    for (int i = 0; i < count; i++) {
      scratch[i] = Math.min(Math.round((x[at + i] - zero) / step), maximum);
    }
    for (int i = 0; i < count; i++) {
      codes[to + i] = (byte) scratch[i];
    }
  }

  private int quantize(float x, float step, float zero) {
    return step == 0 ? 0 : Math.min(Math.round((x - zero) / step), highest);
  }

  /** Codes numbers that lie together to 16 bits. */
  void quantize(float[] x, int at, int count, short[] codes, int to) {
    float step = step();
    float zero = zero();
    for (int i = 0; i < count; i++) {
      codes[to + i] = (short) quantize(x[at + i], step, zero);
    }
  }
}
