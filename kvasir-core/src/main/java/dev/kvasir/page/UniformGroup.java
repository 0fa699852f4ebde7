package dev.kvasir.page;

/**
 * Uniform asymmetric codes of some numbers, {@code value = scale * code + zero}, with scale and
 * zero as halves. The zero is rounded down and the scale up to the next half, so that every number
 * lies within half a step of its code, and a group has scale zero only if it truly is constant.
 *
 * <p>Halves and not brain halves: those have fewer digits, so both roundings would widen the range
 * more.
 */
record UniformGroup(short scaleBits, short zeroBits, int highest) {
  private static final float LARGEST_HALF = 65504;

  /** Of {@code count} numbers, {@code stride} apart. */
  static UniformGroup of(float[] x, int at, int stride, int count, int bits) {
    float least = Float.POSITIVE_INFINITY;
    float most = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      least = Math.min(least, x[at + i * stride]);
      most = Math.max(most, x[at + i * stride]);
    }
    int highest = (1 << bits) - 1;
    short zeroBits = HalfRounding.floor(least);
    float range = most - Float.float16ToFloat(zeroBits);
    // At one bit a range may be wider than the largest half; its upper end then comes back lower.
    float scale = Math.min(range / highest, LARGEST_HALF);
    return new UniformGroup(HalfRounding.ceil(scale), zeroBits, highest);
  }

  float scale() {
    return Float.float16ToFloat(scaleBits);
  }

  float zero() {
    return Float.float16ToFloat(zeroBits);
  }

  /** Codes the numbers that the group was made of. */
  void code(float[] x, int at, int stride, int count, byte[] codes, int to, int codeStride) {
    float scale = scale();
    float zero = zero();
    for (int i = 0; i < count; i++) {
      int code = scale == 0 ? 0 : Math.round((x[at + i * stride] - zero) / scale);
      codes[to + i * codeStride] = (byte) Math.min(code, highest);
    }
  }
}
