package dev.kvasir.simd;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Dot products of floats with rows of 16-bit floats, which become floats in registers: a 32-bit
 * lane holds an even channel below an odd one, and masks and shifts take them apart. So queries are
 * laid out even channels first, a vector of each in turn:
 *
 * <pre>
 * block of 2 * LANES channels | query 0: even channels, odd channels | query 1: ... | query 3
 * </pre>
 *
 * A tile of four queries by four rows reads every key once for four query heads. Fewer queries than
 * four are filled up with zeros, except a single one.
 */
final class HalfProducts {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_PREFERRED;
  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final int LANES = FLOATS.length();
  private static final int HALF_BITS = HalfFloats.HALF_BITS;
  private static final int UPPER_HALF = 0xFFFF0000;
  private static final int TILE = 4;

  private record Scratch(float[] queries, float[] sums) {}

  private static final ThreadLocal<Scratch> SCRATCH =
      ThreadLocal.withInitial(() -> new Scratch(new float[0], new float[0]));

  private HalfProducts() {}

  static void products(
      float[] a,
      int aAt,
      int aStride,
      int aRows,
      DenseMatrix b,
      int firstRow,
      int bRows,
      float[] c,
      int cAt,
      int cStride) {
    Scratch scratch = scratch(b.columns());
    // What is stored is 2^-112 of a half's value, and products are exact however that is made up.
    float lift = b.precision() == Precision.F16 ? HalfFloats.EXPONENT_LIFT : 1;
    for (int i = 0; i < aRows; ) {
      int count = aRows - i == 1 ? 1 : Math.min(TILE, aRows - i);
      arrange(a, aAt + i * aStride, aStride, count, b.columns(), lift, scratch.queries);
      for (int j = 0; j < bRows; j += TILE) {
        int rows = Math.min(TILE, bRows - j);
        tile(b, firstRow + j, rows, count, scratch);
        finish(
            a,
            aAt + i * aStride,
            aStride,
            count,
            b,
            firstRow + j,
            rows,
            scratch.sums,
            c,
            cAt + i * cStride + j,
            cStride);
      }
      i += count;
    }
  }

  private static Scratch scratch(int depth) {
    Scratch scratch = SCRATCH.get();
    if (scratch.queries.length < TILE * depth) {
      scratch = new Scratch(new float[TILE * depth], new float[TILE * TILE * LANES]);
      SCRATCH.set(scratch);
    }
    return scratch;
  }

  private static void arrange(
      float[] a, int at, int stride, int count, int depth, float lift, float[] queries) {
    int tileRows = count == 1 ? 1 : TILE;
    int to = 0;
    for (int c = 0; c <= depth - 2 * LANES; c += 2 * LANES) {
      for (int row = 0; row < tileRows; row++) {
        for (int i = 0; i < LANES; i++) {
          int from = at + row * stride + c + 2 * i;
          queries[to + i] = row < count ? a[from] * lift : 0;
          queries[to + LANES + i] = row < count ? a[from + 1] * lift : 0;
        }
        to += 2 * LANES;
      }
    }
  }

  /** Rows beyond the last are the last again: their sums are not looked at. */
  private static void tile(DenseMatrix b, int row, int rows, int count, Scratch scratch) {
    long at0 = b.offset(row);
    long at1 = b.offset(row + Math.min(1, rows - 1));
    long at2 = b.offset(row + Math.min(2, rows - 1));
    long at3 = b.offset(row + rows - 1);
    float[] queries = scratch.queries;
    float[] sums = scratch.sums;
    if (b.precision() == Precision.F16) {
      if (count == 1) {
        oneHalfRows(b.data(), at0, at1, at2, at3, b.columns(), queries, sums);
      } else {
        fourHalfRows(b.data(), at0, at1, at2, at3, b.columns(), queries, sums);
      }
    } else if (count == 1) {
      oneBrainHalfRows(b.data(), at0, at1, at2, at3, b.columns(), queries, sums);
    } else {
      fourBrainHalfRows(b.data(), at0, at1, at2, at3, b.columns(), queries, sums);
    }
  }

  private static void fourHalfRows(
      MemorySegment rows,
      long at0,
      long at1,
      long at2,
      long at3,
      int depth,
      float[] queries,
      float[] sums) {
    FloatVector s00 = FloatVector.zero(FLOATS);
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
    for (int c = 0; c <= depth - 2 * LANES; c += 2 * LANES) {
      IntVector x =
          ShortVector.fromMemorySegment(SHORTS, rows, at0 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even0 =
          x.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 3)
              .and(HALF_BITS)
              .reinterpretAsFloats();
      FloatVector odd0 = x.lanewise(VectorOperators.ASHR, 3).and(HALF_BITS).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, at1 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even1 =
          x.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 3)
              .and(HALF_BITS)
              .reinterpretAsFloats();
      FloatVector odd1 = x.lanewise(VectorOperators.ASHR, 3).and(HALF_BITS).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, at2 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even2 =
          x.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 3)
              .and(HALF_BITS)
              .reinterpretAsFloats();
      FloatVector odd2 = x.lanewise(VectorOperators.ASHR, 3).and(HALF_BITS).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, at3 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even3 =
          x.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 3)
              .and(HALF_BITS)
              .reinterpretAsFloats();
      FloatVector odd3 = x.lanewise(VectorOperators.ASHR, 3).and(HALF_BITS).reinterpretAsFloats();
      FloatVector q = FloatVector.fromArray(FLOATS, queries, 4 * c);
      s00 = q.fma(even0, s00);
      s01 = q.fma(even1, s01);
      s02 = q.fma(even2, s02);
      s03 = q.fma(even3, s03);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + LANES);
      s00 = q.fma(odd0, s00);
      s01 = q.fma(odd1, s01);
      s02 = q.fma(odd2, s02);
      s03 = q.fma(odd3, s03);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + 2 * LANES);
      s10 = q.fma(even0, s10);
      s11 = q.fma(even1, s11);
      s12 = q.fma(even2, s12);
      s13 = q.fma(even3, s13);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + 3 * LANES);
      s10 = q.fma(odd0, s10);
      s11 = q.fma(odd1, s11);
      s12 = q.fma(odd2, s12);
      s13 = q.fma(odd3, s13);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + 4 * LANES);
      s20 = q.fma(even0, s20);
      s21 = q.fma(even1, s21);
      s22 = q.fma(even2, s22);
      s23 = q.fma(even3, s23);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + 5 * LANES);
      s20 = q.fma(odd0, s20);
      s21 = q.fma(odd1, s21);
      s22 = q.fma(odd2, s22);
      s23 = q.fma(odd3, s23);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + 6 * LANES);
      s30 = q.fma(even0, s30);
      s31 = q.fma(even1, s31);
      s32 = q.fma(even2, s32);
      s33 = q.fma(even3, s33);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + 7 * LANES);
      s30 = q.fma(odd0, s30);
      s31 = q.fma(odd1, s31);
      s32 = q.fma(odd2, s32);
      s33 = q.fma(odd3, s33);
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

  private static void oneHalfRows(
      MemorySegment rows,
      long at0,
      long at1,
      long at2,
      long at3,
      int depth,
      float[] queries,
      float[] sums) {
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = s00;
    FloatVector s02 = s00;
    FloatVector s03 = s00;
    for (int c = 0; c <= depth - 2 * LANES; c += 2 * LANES) {
      IntVector x =
          ShortVector.fromMemorySegment(SHORTS, rows, at0 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even0 =
          x.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 3)
              .and(HALF_BITS)
              .reinterpretAsFloats();
      FloatVector odd0 = x.lanewise(VectorOperators.ASHR, 3).and(HALF_BITS).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, at1 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even1 =
          x.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 3)
              .and(HALF_BITS)
              .reinterpretAsFloats();
      FloatVector odd1 = x.lanewise(VectorOperators.ASHR, 3).and(HALF_BITS).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, at2 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even2 =
          x.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 3)
              .and(HALF_BITS)
              .reinterpretAsFloats();
      FloatVector odd2 = x.lanewise(VectorOperators.ASHR, 3).and(HALF_BITS).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, at3 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even3 =
          x.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 3)
              .and(HALF_BITS)
              .reinterpretAsFloats();
      FloatVector odd3 = x.lanewise(VectorOperators.ASHR, 3).and(HALF_BITS).reinterpretAsFloats();
      FloatVector q = FloatVector.fromArray(FLOATS, queries, c);
      s00 = q.fma(even0, s00);
      s01 = q.fma(even1, s01);
      s02 = q.fma(even2, s02);
      s03 = q.fma(even3, s03);
      q = FloatVector.fromArray(FLOATS, queries, c + LANES);
      s00 = q.fma(odd0, s00);
      s01 = q.fma(odd1, s01);
      s02 = q.fma(odd2, s02);
      s03 = q.fma(odd3, s03);
    }
    s00.intoArray(sums, 0 * LANES);
    s01.intoArray(sums, 1 * LANES);
    s02.intoArray(sums, 2 * LANES);
    s03.intoArray(sums, 3 * LANES);
  }

  private static void fourBrainHalfRows(
      MemorySegment rows,
      long at0,
      long at1,
      long at2,
      long at3,
      int depth,
      float[] queries,
      float[] sums) {
    FloatVector s00 = FloatVector.zero(FLOATS);
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
    for (int c = 0; c <= depth - 2 * LANES; c += 2 * LANES) {
      IntVector x =
          ShortVector.fromMemorySegment(SHORTS, rows, at0 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even0 = x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
      FloatVector odd0 = x.and(UPPER_HALF).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, at1 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even1 = x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
      FloatVector odd1 = x.and(UPPER_HALF).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, at2 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even2 = x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
      FloatVector odd2 = x.and(UPPER_HALF).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, at3 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even3 = x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
      FloatVector odd3 = x.and(UPPER_HALF).reinterpretAsFloats();
      FloatVector q = FloatVector.fromArray(FLOATS, queries, 4 * c);
      s00 = q.fma(even0, s00);
      s01 = q.fma(even1, s01);
      s02 = q.fma(even2, s02);
      s03 = q.fma(even3, s03);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + LANES);
      s00 = q.fma(odd0, s00);
      s01 = q.fma(odd1, s01);
      s02 = q.fma(odd2, s02);
      s03 = q.fma(odd3, s03);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + 2 * LANES);
      s10 = q.fma(even0, s10);
      s11 = q.fma(even1, s11);
      s12 = q.fma(even2, s12);
      s13 = q.fma(even3, s13);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + 3 * LANES);
      s10 = q.fma(odd0, s10);
      s11 = q.fma(odd1, s11);
      s12 = q.fma(odd2, s12);
      s13 = q.fma(odd3, s13);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + 4 * LANES);
      s20 = q.fma(even0, s20);
      s21 = q.fma(even1, s21);
      s22 = q.fma(even2, s22);
      s23 = q.fma(even3, s23);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + 5 * LANES);
      s20 = q.fma(odd0, s20);
      s21 = q.fma(odd1, s21);
      s22 = q.fma(odd2, s22);
      s23 = q.fma(odd3, s23);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + 6 * LANES);
      s30 = q.fma(even0, s30);
      s31 = q.fma(even1, s31);
      s32 = q.fma(even2, s32);
      s33 = q.fma(even3, s33);
      q = FloatVector.fromArray(FLOATS, queries, 4 * c + 7 * LANES);
      s30 = q.fma(odd0, s30);
      s31 = q.fma(odd1, s31);
      s32 = q.fma(odd2, s32);
      s33 = q.fma(odd3, s33);
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

  private static void oneBrainHalfRows(
      MemorySegment rows,
      long at0,
      long at1,
      long at2,
      long at3,
      int depth,
      float[] queries,
      float[] sums) {
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = s00;
    FloatVector s02 = s00;
    FloatVector s03 = s00;
    for (int c = 0; c <= depth - 2 * LANES; c += 2 * LANES) {
      IntVector x =
          ShortVector.fromMemorySegment(SHORTS, rows, at0 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even0 = x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
      FloatVector odd0 = x.and(UPPER_HALF).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, at1 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even1 = x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
      FloatVector odd1 = x.and(UPPER_HALF).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, at2 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even2 = x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
      FloatVector odd2 = x.and(UPPER_HALF).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, at3 + 2L * c, ORDER).reinterpretAsInts();
      FloatVector even3 = x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
      FloatVector odd3 = x.and(UPPER_HALF).reinterpretAsFloats();
      FloatVector q = FloatVector.fromArray(FLOATS, queries, c);
      s00 = q.fma(even0, s00);
      s01 = q.fma(even1, s01);
      s02 = q.fma(even2, s02);
      s03 = q.fma(even3, s03);
      q = FloatVector.fromArray(FLOATS, queries, c + LANES);
      s00 = q.fma(odd0, s00);
      s01 = q.fma(odd1, s01);
      s02 = q.fma(odd2, s02);
      s03 = q.fma(odd3, s03);
    }
    s00.intoArray(sums, 0 * LANES);
    s01.intoArray(sums, 1 * LANES);
    s02.intoArray(sums, 2 * LANES);
    s03.intoArray(sums, 3 * LANES);
  }

  /** Adds up lanes, and what does not fill two vectors. */
  private static void finish(
      float[] a,
      int aAt,
      int aStride,
      int count,
      DenseMatrix b,
      int row,
      int rows,
      float[] sums,
      float[] c,
      int cAt,
      int cStride) {
    for (int i = 0; i < count; i++) {
      int to = cAt + i * cStride;
      if (rows == TILE) {
        LaneSums.sumFour(sums, TILE * i, c, to);
      } else {
        for (int j = 0; j < rows; j++) {
          c[to + j] = LaneSums.sum(sums, TILE * i + j);
        }
      }
    }
    int whole = b.columns() - b.columns() % (2 * LANES);
    if (whole < b.columns()) {
      addRest(a, aAt, aStride, count, b, row, rows, whole, c, cAt, cStride);
    }
  }

  private static void addRest(
      float[] a,
      int aAt,
      int aStride,
      int count,
      DenseMatrix b,
      int row,
      int rows,
      int whole,
      float[] c,
      int cAt,
      int cStride) {
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < rows; j++) {
        float sum = c[cAt + i * cStride + j];
        for (int k = whole; k < b.columns(); k++) {
          sum = Math.fma(a[aAt + i * aStride + k], b.value(row + j, k), sum);
        }
        c[cAt + i * cStride + j] = sum;
      }
    }
  }
}
