package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.FMA;

import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Dot products with rows that are picked by number. A tile of four by four reads eight vectors for
 * sixteen products.
 */
final class PickedProducts {
  private static final VectorSpecies<Float> SPECIES = FloatVector.SPECIES_PREFERRED;
  private static final int LANES = SPECIES.length();

  private PickedProducts() {}

  static void products(
      float[] a,
      int aRows,
      float[] b,
      int[] picked,
      int pickedAt,
      int count,
      int pairs,
      float[] c,
      int cAt,
      int cStride) {
    float[] sums = LaneSums.scratch();
    int depth = 2 * pairs;
    int wholeRows = aRows - aRows % 4;
    int whole = count - count % 4;
    for (int i = 0; i < wholeRows; i += 4) {
      for (int j = 0; j < whole; j += 4) {
        fourByFour(a, i * depth, b, picked, pickedAt + j, depth, sums);
        for (int row = 0; row < 4; row++) {
          addFour(sums, 4 * row, c, cAt + (i + row) * cStride + j);
        }
      }
    }
    for (int i = 0; i < aRows; i++) {
      for (int j = i < wholeRows ? whole : 0; j < count; j++) {
        c[cAt + i * cStride + j] += dot(a, i * depth, b, picked[pickedAt + j] * depth, pairs, sums);
      }
    }
  }

  private static float dot(float[] a, int aAt, float[] b, int bAt, int pairs, float[] sums) {
    FloatVector sum = FloatVector.zero(SPECIES);
    for (int step = 0; step < 2 * pairs / LANES; step++) {
      int k = place(step, pairs);
      FloatVector row = FloatVector.fromArray(SPECIES, a, aAt + k);
      sum = row.lanewise(FMA, FloatVector.fromArray(SPECIES, b, bAt + k), sum);
    }
    sum.intoArray(sums, 0);
    return LaneSums.sum(sums, 0);
  }

  /** Where the vector of a step lies in a row: x and y of some pairs come after each other. */
  private static int place(int step, int pairs) {
    return (step & 1) * pairs + (step >> 1) * LANES;
  }

  private static void addFour(float[] sums, int firstVector, float[] c, int at) {
    LaneSums.sumFour(sums, firstVector, sums, LaneSums.RESULTS);
    c[at] += sums[LaneSums.RESULTS];
    c[at + 1] += sums[LaneSums.RESULTS + 1];
    c[at + 2] += sums[LaneSums.RESULTS + 2];
    c[at + 3] += sums[LaneSums.RESULTS + 3];
  }

  private static void fourByFour(
      float[] a, int aAt, float[] b, int[] picked, int at, int depth, float[] sums) {
    int b0 = picked[at] * depth;
    int b1 = picked[at + 1] * depth;
    int b2 = picked[at + 2] * depth;
    int b3 = picked[at + 3] * depth;
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
    FloatVector s30 = s00;
    FloatVector s31 = s00;
    FloatVector s32 = s00;
    FloatVector s33 = s00;
    for (int step = 0; step < depth / LANES; step++) {
      int k = place(step, depth / 2);
      FloatVector a0 = FloatVector.fromArray(SPECIES, a, aAt + k);
      FloatVector a1 = FloatVector.fromArray(SPECIES, a, aAt + depth + k);
      FloatVector a2 = FloatVector.fromArray(SPECIES, a, aAt + 2 * depth + k);
      FloatVector a3 = FloatVector.fromArray(SPECIES, a, aAt + 3 * depth + k);
      FloatVector row = FloatVector.fromArray(SPECIES, b, b0 + k);
      s00 = row.lanewise(FMA, a0, s00);
      s10 = row.lanewise(FMA, a1, s10);
      s20 = row.lanewise(FMA, a2, s20);
      s30 = row.lanewise(FMA, a3, s30);
      row = FloatVector.fromArray(SPECIES, b, b1 + k);
      s01 = row.lanewise(FMA, a0, s01);
      s11 = row.lanewise(FMA, a1, s11);
      s21 = row.lanewise(FMA, a2, s21);
      s31 = row.lanewise(FMA, a3, s31);
      row = FloatVector.fromArray(SPECIES, b, b2 + k);
      s02 = row.lanewise(FMA, a0, s02);
      s12 = row.lanewise(FMA, a1, s12);
      s22 = row.lanewise(FMA, a2, s22);
      s32 = row.lanewise(FMA, a3, s32);
      row = FloatVector.fromArray(SPECIES, b, b3 + k);
      s03 = row.lanewise(FMA, a0, s03);
      s13 = row.lanewise(FMA, a1, s13);
      s23 = row.lanewise(FMA, a2, s23);
      s33 = row.lanewise(FMA, a3, s33);
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
    s30.intoArray(sums, 12 * LANES);
    s31.intoArray(sums, 13 * LANES);
    s32.intoArray(sums, 14 * LANES);
    s33.intoArray(sums, 15 * LANES);
  }
}
