package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.FMA;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Weighted sums of value vectors. A tile of four rows by two vectors reads each value once for four
 * query heads and keeps eight sums in registers through all tokens.
 */
final class FloatSums {
  private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
  private static final int LANES = SPECIES.length();

  private FloatSums() {}

  static void weightedSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      float[] v,
      int vAt,
      int vStride,
      int tokens,
      int length,
      float[] out,
      int outAt,
      int outStride) {
    int i = 0;
    for (; i + 4 <= rows; i += 4) {
      int weight = weightsAt + i * weightsStride;
      int outRow = outAt + i * outStride;
      int d = 0;
      for (; d <= length - 2 * LANES; d += 2 * LANES) {
        fourByTwo(
            weights,
            weight,
            weightsStride,
            v,
            vAt + d,
            vStride,
            tokens,
            out,
            outRow + d,
            outStride);
      }
      for (int row = 0; row < 4; row++) {
        rest(
            weights,
            weight + row * weightsStride,
            v,
            vAt,
            vStride,
            tokens,
            d,
            length,
            out,
            outRow + row * outStride);
      }
    }
    for (; i < rows; i++) {
      rest(
          weights,
          weightsAt + i * weightsStride,
          v,
          vAt,
          vStride,
          tokens,
          0,
          length,
          out,
          outAt + i * outStride);
    }
  }

  private static void fourByTwo(
      float[] weights,
      int weightsAt,
      int weightsStride,
      float[] v,
      int vAt,
      int vStride,
      int tokens,
      float[] out,
      int outAt,
      int outStride) {
    FloatVector s00 = FloatVector.fromArray(SPECIES, out, outAt);
    FloatVector s01 = FloatVector.fromArray(SPECIES, out, outAt + LANES);
    FloatVector s10 = FloatVector.fromArray(SPECIES, out, outAt + outStride);
    FloatVector s11 = FloatVector.fromArray(SPECIES, out, outAt + outStride + LANES);
    FloatVector s20 = FloatVector.fromArray(SPECIES, out, outAt + 2 * outStride);
    FloatVector s21 = FloatVector.fromArray(SPECIES, out, outAt + 2 * outStride + LANES);
    FloatVector s30 = FloatVector.fromArray(SPECIES, out, outAt + 3 * outStride);
    FloatVector s31 = FloatVector.fromArray(SPECIES, out, outAt + 3 * outStride + LANES);
    int value = vAt;
    for (int t = 0; t < tokens; t++) {
      FloatVector v0 = FloatVector.fromArray(SPECIES, v, value);
      FloatVector v1 = FloatVector.fromArray(SPECIES, v, value + LANES);
      FloatVector w = FloatVector.broadcast(SPECIES, weights[weightsAt + t]);
      s00 = w.lanewise(FMA, v0, s00);
      s01 = w.lanewise(FMA, v1, s01);
      w = FloatVector.broadcast(SPECIES, weights[weightsAt + weightsStride + t]);
      s10 = w.lanewise(FMA, v0, s10);
      s11 = w.lanewise(FMA, v1, s11);
      w = FloatVector.broadcast(SPECIES, weights[weightsAt + 2 * weightsStride + t]);
      s20 = w.lanewise(FMA, v0, s20);
      s21 = w.lanewise(FMA, v1, s21);
      w = FloatVector.broadcast(SPECIES, weights[weightsAt + 3 * weightsStride + t]);
      s30 = w.lanewise(FMA, v0, s30);
      s31 = w.lanewise(FMA, v1, s31);
      value += vStride;
    }
    s00.intoArray(out, outAt);
    s01.intoArray(out, outAt + LANES);
    s10.intoArray(out, outAt + outStride);
    s11.intoArray(out, outAt + outStride + LANES);
    s20.intoArray(out, outAt + 2 * outStride);
    s21.intoArray(out, outAt + 2 * outStride + LANES);
    s30.intoArray(out, outAt + 3 * outStride);
    s31.intoArray(out, outAt + 3 * outStride + LANES);
  }

  /** One row from channel {@code from} on. */
  private static void rest(
      float[] weights,
      int weightsAt,
      float[] v,
      int vAt,
      int vStride,
      int tokens,
      int from,
      int length,
      float[] out,
      int outAt) {
    int d = from;
    for (; d <= length - LANES; d += LANES) {
      FloatVector sum = FloatVector.fromArray(SPECIES, out, outAt + d);
      for (int t = 0; t < tokens; t++) {
        FloatVector w = FloatVector.broadcast(SPECIES, weights[weightsAt + t]);
        sum = w.lanewise(FMA, FloatVector.fromArray(SPECIES, v, vAt + t * vStride + d), sum);
      }
      sum.intoArray(out, outAt + d);
    }
    for (; d < length; d++) {
      float sum = out[outAt + d];
      for (int t = 0; t < tokens; t++) {
        sum = Math.fma(weights[weightsAt + t], v[vAt + t * vStride + d], sum);
      }
      out[outAt + d] = sum;
    }
  }
}
