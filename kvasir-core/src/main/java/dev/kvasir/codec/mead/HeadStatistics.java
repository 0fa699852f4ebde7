package dev.kvasir.codec.mead;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What the first page of a sequence says about one KV head. Key channels are in pair order, before
 * RoPE.
 *
 * @param means (keyDim and valueDim)
 * @param deviations (keyDim and valueDim) from the means
 * @param keyWeights (keyDim), how much a key channel's error counts next to that of a value
 * @param tierRatios (tiers, keys and values), deviation in a tier relative to that of all tokens
 */
record HeadStatistics(float[] means, float[] deviations, float[] keyWeights, float[] tierRatios) {
  private static final int RATIOS = SaliencyTier.COUNT * KvSide.COUNT;

  /** Returns statistics of a head that has not been measured; its allocation has no bits. */
  static HeadStatistics blank(MeadSizes sizes) {
    int both = sizes.keyDim() + sizes.valueDim();
    return new HeadStatistics(
        new float[both], new float[both], new float[sizes.keyDim()], new float[RATIOS]);
  }

  static long bytesFor(MeadSizes sizes) {
    return (long) Float.BYTES * (3 * sizes.keyDim() + 2 * sizes.valueDim() + RATIOS);
  }

  void write(MemorySegment out, long at) {
    long next = at;
    for (float[] numbers : parts()) {
      MemorySegment.copy(numbers, 0, out, ValueLayout.JAVA_FLOAT_UNALIGNED, next, numbers.length);
      next += (long) Float.BYTES * numbers.length;
    }
  }

  static HeadStatistics read(MeadSizes sizes, MemorySegment in, long at) {
    HeadStatistics read = blank(sizes);
    long next = at;
    for (float[] numbers : read.parts()) {
      MemorySegment.copy(in, ValueLayout.JAVA_FLOAT_UNALIGNED, next, numbers, 0, numbers.length);
      next += (long) Float.BYTES * numbers.length;
    }
    return read;
  }

  /** Returns whether all numbers are finite, and those that are roots not negative. */
  boolean isValid() {
    for (float[] numbers : parts()) {
      for (float number : numbers) {
        if (!Float.isFinite(number) || number < 0 && numbers != means) {
          return false;
        }
      }
    }
    return true;
  }

  private float[][] parts() {
    return new float[][] {means, deviations, keyWeights, tierRatios};
  }
}
