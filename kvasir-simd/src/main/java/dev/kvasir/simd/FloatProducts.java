package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.FMA;

import jdk.incubator.vector.FloatVector;
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
    float[] sums = LaneSums.scratch();
    int wholeB = bRows - bRows % 4;
    int i = 0;
    for (; i + 3 <= aRows; i += 3) {
      for (int j = 0; j < wholeB; j += 4) {
        threeByFour(a, aAt + i * aStride, aStride, b, bAt + j * bStride, bStride, depth, sums);
        for (int row = 0; row < 3; row++) {
          finishFour(
              a,
              aAt + (i + row) * aStride,
              b,
              bAt + j * bStride,
              bStride,
              depth,
              sums,
              4 * row,
              c,
              cAt + (i + row) * cStride + j);
        }
      }
    }
    for (; i < aRows; i++) {
      for (int j = 0; j < wholeB; j += 4) {
        oneByFour(a, aAt + i * aStride, b, bAt + j * bStride, bStride, depth, sums);
        finishFour(
            a,
            aAt + i * aStride,
            b,
            bAt + j * bStride,
            bStride,
            depth,
            sums,
            0,
            c,
            cAt + i * cStride + j);
      }
    }
    for (int j = wholeB; j < bRows; j++) {
      for (i = 0; i < aRows; i++) {
        c[cAt + i * cStride + j] = dot(a, aAt + i * aStride, b, bAt + j * bStride, depth, sums);
      }
    }
  }

  private static void threeByFour(
      float[] a, int aAt, int aStride, float[] b, int bAt, int bStride, int depth, float[] sums) {
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
    for (int k = 0; k <= depth - LANES; k += LANES) {
      FloatVector a0 = FloatVector.fromArray(SPECIES, a, aAt + k);
      FloatVector a1 = FloatVector.fromArray(SPECIES, a, aAt + aStride + k);
      FloatVector a2 = FloatVector.fromArray(SPECIES, a, aAt + 2 * aStride + k);
      FloatVector row = FloatVector.fromArray(SPECIES, b, bAt + k);
      s00 = row.lanewise(FMA, a0, s00);
      s10 = row.lanewise(FMA, a1, s10);
      s20 = row.lanewise(FMA, a2, s20);
      row = FloatVector.fromArray(SPECIES, b, bAt + bStride + k);
      s01 = row.lanewise(FMA, a0, s01);
      s11 = row.lanewise(FMA, a1, s11);
      s21 = row.lanewise(FMA, a2, s21);
      row = FloatVector.fromArray(SPECIES, b, bAt + 2 * bStride + k);
      s02 = row.lanewise(FMA, a0, s02);
      s12 = row.lanewise(FMA, a1, s12);
      s22 = row.lanewise(FMA, a2, s22);
      row = FloatVector.fromArray(SPECIES, b, bAt + 3 * bStride + k);
      s03 = row.lanewise(FMA, a0, s03);
      s13 = row.lanewise(FMA, a1, s13);
      s23 = row.lanewise(FMA, a2, s23);
    }
    s00.intoArray(sums, 0 * LANES);
    s01.intoArray(sums, 1 * LANES);
    s02.intoArray(sums, 2 * LANES);
    s03.intoArray(sums, 3 * LANES);
    s10.intoArray(sums, 4 * LANES);
    s11.intoArray(sums, 5 * LANES);
    s12.intoArray(sums, 6 * LANES);
    s13.intoArray(sums, 7 * LANES);
    s20.intoArray(sums, 8 * LANES);
    s21.intoArray(sums, 9 * LANES);
    s22.intoArray(sums, 10 * LANES);
    s23.intoArray(sums, 11 * LANES);
  }

  private static void oneByFour(
      float[] a, int aAt, float[] b, int bAt, int bStride, int depth, float[] sums) {
    FloatVector s0 = FloatVector.zero(SPECIES);
    FloatVector s1 = s0;
    FloatVector s2 = s0;
    FloatVector s3 = s0;
    for (int k = 0; k <= depth - LANES; k += LANES) {
      FloatVector row = FloatVector.fromArray(SPECIES, a, aAt + k);
      s0 = row.lanewise(FMA, FloatVector.fromArray(SPECIES, b, bAt + k), s0);
      s1 = row.lanewise(FMA, FloatVector.fromArray(SPECIES, b, bAt + bStride + k), s1);
      s2 = row.lanewise(FMA, FloatVector.fromArray(SPECIES, b, bAt + 2 * bStride + k), s2);
      s3 = row.lanewise(FMA, FloatVector.fromArray(SPECIES, b, bAt + 3 * bStride + k), s3);
    }
    s0.intoArray(sums, 0 * LANES);
    s1.intoArray(sums, 1 * LANES);
    s2.intoArray(sums, 2 * LANES);
    s3.intoArray(sums, 3 * LANES);
  }

  /** Four dot products from the vectors that a tile left, and from what is left over. */
  private static void finishFour(
      float[] a,
      int aAt,
      float[] b,
      int bAt,
      int bStride,
      int depth,
      float[] sums,
      int firstVector,
      float[] c,
      int cAt) {
    LaneSums.sumFour(sums, firstVector, c, cAt);
    if (depth % LANES != 0) {
      for (int j = 0; j < 4; j++) {
        c[cAt + j] = tail(a, aAt, b, bAt + j * bStride, depth, c[cAt + j]);
      }
    }
  }

  static float dot(float[] a, int aAt, float[] b, int bAt, int depth, float[] sums) {
    FloatVector sum = FloatVector.zero(SPECIES);
    for (int k = 0; k <= depth - LANES; k += LANES) {
      FloatVector row = FloatVector.fromArray(SPECIES, a, aAt + k);
      sum = row.lanewise(FMA, FloatVector.fromArray(SPECIES, b, bAt + k), sum);
    }
    sum.intoArray(sums, 0);
    return tail(a, aAt, b, bAt, depth, LaneSums.sum(sums, 0));
  }

  private static float tail(float[] a, int aAt, float[] b, int bAt, int depth, float start) {
    float sum = start;
    for (int k = depth - depth % LANES; k < depth; k++) {
      sum = Math.fma(a[aAt + k], b[bAt + k], sum);
    }
    return sum;
  }
}
