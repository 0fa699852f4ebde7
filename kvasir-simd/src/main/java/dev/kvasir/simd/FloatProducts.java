package dev.kvasir.simd;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Dot products of rows with rows. A tile of three by four keeps twelve sums in registers, which
 * with its operands fills the sixteen that AVX2 has and hides the latency of a fused multiply-add
 * on every machine; it reads seven vectors for twelve products.
 */
final class FloatProducts {
  private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
  private static final int LANES = SPECIES.length();

  private FloatProducts() {}

  static void products(
      float[] a,
      int aAt,
      int aStride,
      int aRows,
      float[] b,
      int bAt,
      int bStride,
      int bRows,
      int depth,
      float[] c,
      int cAt,
      int cStride) {
    int wholeB = bRows - bRows % 4;
    int i = 0;
    for (; i + 3 <= aRows; i += 3) {
      for (int j = 0; j < wholeB; j += 4) {
        threeByFour(
            a,
            aAt + i * aStride,
            aStride,
            b,
            bAt + j * bStride,
            bStride,
            depth,
            c,
            cAt + i * cStride + j,
            cStride);
      }
    }
    for (; i < aRows; i++) {
      for (int j = 0; j < wholeB; j += 4) {
        oneByFour(
            a, aAt + i * aStride, b, bAt + j * bStride, bStride, depth, c, cAt + i * cStride + j);
      }
    }
    for (int j = wholeB; j < bRows; j++) {
      for (i = 0; i < aRows; i++) {
        c[cAt + i * cStride + j] = dot(a, aAt + i * aStride, b, bAt + j * bStride, depth);
      }
    }
  }

  private static void threeByFour(
      float[] a,
      int aAt,
      int aStride,
      float[] b,
      int bAt,
      int bStride,
      int depth,
      float[] c,
      int cAt,
      int cStride) {
    FloatVector s00 = FloatVector.zero(SPECIES);
    FloatVector s01 = s00;
    FloatVector s02 = s00;
    FloatVector s03 = s00;
    FloatVector s10 = s00;
    FloatVector s11 = s00;
    FloatVector s12 = s00;
    FloatVector s13 = s00;
    FloatVector s20 = s00;
    FloatVector s21 = s00;
    FloatVector s22 = s00;
    FloatVector s23 = s00;
    int k = 0;
    for (; k <= depth - LANES; k += LANES) {
      FloatVector a0 = FloatVector.fromArray(SPECIES, a, aAt + k);
      FloatVector a1 = FloatVector.fromArray(SPECIES, a, aAt + aStride + k);
      FloatVector a2 = FloatVector.fromArray(SPECIES, a, aAt + 2 * aStride + k);
      FloatVector row = FloatVector.fromArray(SPECIES, b, bAt + k);
      s00 = row.fma(a0, s00);
      s10 = row.fma(a1, s10);
      s20 = row.fma(a2, s20);
      row = FloatVector.fromArray(SPECIES, b, bAt + bStride + k);
      s01 = row.fma(a0, s01);
      s11 = row.fma(a1, s11);
      s21 = row.fma(a2, s21);
      row = FloatVector.fromArray(SPECIES, b, bAt + 2 * bStride + k);
      s02 = row.fma(a0, s02);
      s12 = row.fma(a1, s12);
      s22 = row.fma(a2, s22);
      row = FloatVector.fromArray(SPECIES, b, bAt + 3 * bStride + k);
      s03 = row.fma(a0, s03);
      s13 = row.fma(a1, s13);
      s23 = row.fma(a2, s23);
    }
    c[cAt] = s00.reduceLanes(VectorOperators.ADD);
    c[cAt + 1] = s01.reduceLanes(VectorOperators.ADD);
    c[cAt + 2] = s02.reduceLanes(VectorOperators.ADD);
    c[cAt + 3] = s03.reduceLanes(VectorOperators.ADD);
    c[cAt + cStride] = s10.reduceLanes(VectorOperators.ADD);
    c[cAt + cStride + 1] = s11.reduceLanes(VectorOperators.ADD);
    c[cAt + cStride + 2] = s12.reduceLanes(VectorOperators.ADD);
    c[cAt + cStride + 3] = s13.reduceLanes(VectorOperators.ADD);
    c[cAt + 2 * cStride] = s20.reduceLanes(VectorOperators.ADD);
    c[cAt + 2 * cStride + 1] = s21.reduceLanes(VectorOperators.ADD);
    c[cAt + 2 * cStride + 2] = s22.reduceLanes(VectorOperators.ADD);
    c[cAt + 2 * cStride + 3] = s23.reduceLanes(VectorOperators.ADD);
    if (k < depth) {
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
          c[cAt + i * cStride + j] += tail(a, aAt + i * aStride, b, bAt + j * bStride, k, depth);
        }
      }
    }
  }

  private static void oneByFour(
      float[] a, int aAt, float[] b, int bAt, int bStride, int depth, float[] c, int cAt) {
    FloatVector s0 = FloatVector.zero(SPECIES);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    int k = 0;
    for (; k <= depth - LANES; k += LANES) {
      FloatVector row = FloatVector.fromArray(SPECIES, a, aAt + k);
      s0 = row.fma(FloatVector.fromArray(SPECIES, b, bAt + k), s0);
      s1 = row.fma(FloatVector.fromArray(SPECIES, b, bAt + bStride + k), s1);
      s2 = row.fma(FloatVector.fromArray(SPECIES, b, bAt + 2 * bStride + k), s2);
      s3 = row.fma(FloatVector.fromArray(SPECIES, b, bAt + 3 * bStride + k), s3);
    }
    c[cAt] = s0.reduceLanes(VectorOperators.ADD);
    c[cAt + 1] = s1.reduceLanes(VectorOperators.ADD);
    c[cAt + 2] = s2.reduceLanes(VectorOperators.ADD);
    c[cAt + 3] = s3.reduceLanes(VectorOperators.ADD);
    if (k < depth) {
      for (int j = 0; j < 4; j++) {
        c[cAt + j] += tail(a, aAt, b, bAt + j * bStride, k, depth);
      }
    }
  }

  private static float dot(float[] a, int aAt, float[] b, int bAt, int depth) {
    FloatVector sum = FloatVector.zero(SPECIES);
    int k = 0;
    for (; k <= depth - LANES; k += LANES) {
      FloatVector row = FloatVector.fromArray(SPECIES, a, aAt + k);
      sum = row.fma(FloatVector.fromArray(SPECIES, b, bAt + k), sum);
    }
    return sum.reduceLanes(VectorOperators.ADD) + tail(a, aAt, b, bAt, k, depth);
  }

  private static float tail(float[] a, int aAt, float[] b, int bAt, int from, int depth) {
    float sum = 0;
    for (int k = from; k < depth; k++) {
      sum += a[aAt + k] * b[bAt + k];
    }
    return sum;
  }
}
