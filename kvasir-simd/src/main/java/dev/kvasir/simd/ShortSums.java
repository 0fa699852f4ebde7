package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.ASHR;
import static jdk.incubator.vector.VectorOperators.FMA;
import static jdk.incubator.vector.VectorOperators.I2F;
import static jdk.incubator.vector.VectorOperators.LSHL;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Weighted sums of rows of signed 16-bit codes, which become floats in registers: a 32-bit lane
 * holds an even code below an odd one, and shifts take them apart. A tile of four rows of weights
 * by four vectors reads every code once for four query heads.
 */
final class ShortSums {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ORDER);
  private static final int LANES = FLOATS.length();

  private ShortSums() {}

  static void add(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      MemorySegment codes,
      long offset,
      int codesStride,
      int entries,
      int lanes,
      float[] out,
      int outAt,
      int outStride) {
    SumTile scratch = SumTile.ofThread(entries);
    long rowBytes = 2L * codesStride;
    for (int i = 0; i < rows; ) {
      int count = SumTile.rows(rows - i);
      int from = weightsAt + i * weightsStride;
      int to = outAt + i * outStride;
      scratch.arrange(weights, from, weightsStride, count, entries, 1);
      int lane = 0;
      for (; lane <= lanes - SumTile.LANES; lane += SumTile.LANES) {
        long at = offset + 2L * lane;
        if (count == 1) {
          oneRow(codes, at, rowBytes, entries, scratch.weights, scratch.sums);
        } else {
          fourRows(codes, at, rowBytes, entries, scratch.weights, scratch.sums);
        }
        scratch.addInOrder(count, out, to + lane, outStride);
      }
      rest(codes, offset, rowBytes, entries, lane, lanes, scratch, count, out, to, outStride);
      i += count;
    }
  }

  private static void fourRows(
      MemorySegment codes, long at, long rowBytes, int entries, float[] weights, float[] sums) {
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
    for (int e = 0; e < entries; e++) {
      long row = at + e * rowBytes;
      IntVector x = IntVector.fromMemorySegment(INTS, codes, row, ORDER);
      FloatVector even0 =
          (FloatVector) x.lanewise(LSHL, 16).lanewise(ASHR, 16).convertShape(I2F, FLOATS, 0);
      FloatVector odd0 = (FloatVector) x.lanewise(ASHR, 16).convertShape(I2F, FLOATS, 0);
      x = IntVector.fromMemorySegment(INTS, codes, row + 4L * LANES, ORDER);
      FloatVector even1 =
          (FloatVector) x.lanewise(LSHL, 16).lanewise(ASHR, 16).convertShape(I2F, FLOATS, 0);
      FloatVector odd1 = (FloatVector) x.lanewise(ASHR, 16).convertShape(I2F, FLOATS, 0);
      FloatVector w = FloatVector.broadcast(FLOATS, weights[e]);
      s00 = even0.lanewise(FMA, w, s00);
      s01 = odd0.lanewise(FMA, w, s01);
      s02 = even1.lanewise(FMA, w, s02);
      s03 = odd1.lanewise(FMA, w, s03);
      w = FloatVector.broadcast(FLOATS, weights[entries + e]);
      s10 = even0.lanewise(FMA, w, s10);
      s11 = odd0.lanewise(FMA, w, s11);
      s12 = even1.lanewise(FMA, w, s12);
      s13 = odd1.lanewise(FMA, w, s13);
      w = FloatVector.broadcast(FLOATS, weights[2 * entries + e]);
      s20 = even0.lanewise(FMA, w, s20);
      s21 = odd0.lanewise(FMA, w, s21);
      s22 = even1.lanewise(FMA, w, s22);
      s23 = odd1.lanewise(FMA, w, s23);
      w = FloatVector.broadcast(FLOATS, weights[3 * entries + e]);
      s30 = even0.lanewise(FMA, w, s30);
      s31 = odd0.lanewise(FMA, w, s31);
      s32 = even1.lanewise(FMA, w, s32);
      s33 = odd1.lanewise(FMA, w, s33);
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

  private static void oneRow(
      MemorySegment codes, long at, long rowBytes, int entries, float[] weights, float[] sums) {
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = s00;
    FloatVector s02 = s00;
    FloatVector s03 = s00;
    for (int e = 0; e < entries; e++) {
      long row = at + e * rowBytes;
      IntVector x = IntVector.fromMemorySegment(INTS, codes, row, ORDER);
      FloatVector even0 =
          (FloatVector) x.lanewise(LSHL, 16).lanewise(ASHR, 16).convertShape(I2F, FLOATS, 0);
      FloatVector odd0 = (FloatVector) x.lanewise(ASHR, 16).convertShape(I2F, FLOATS, 0);
      x = IntVector.fromMemorySegment(INTS, codes, row + 4L * LANES, ORDER);
      FloatVector even1 =
          (FloatVector) x.lanewise(LSHL, 16).lanewise(ASHR, 16).convertShape(I2F, FLOATS, 0);
      FloatVector odd1 = (FloatVector) x.lanewise(ASHR, 16).convertShape(I2F, FLOATS, 0);
      FloatVector w = FloatVector.broadcast(FLOATS, weights[e]);
      s00 = even0.lanewise(FMA, w, s00);
      s01 = odd0.lanewise(FMA, w, s01);
      s02 = even1.lanewise(FMA, w, s02);
      s03 = odd1.lanewise(FMA, w, s03);
    }
    s00.intoArray(sums, 0 * LANES);
    s01.intoArray(sums, 1 * LANES);
    s02.intoArray(sums, 2 * LANES);
    s03.intoArray(sums, 3 * LANES);
  }

  /** Lanes that do not fill a tile. */
  private static void rest(
      MemorySegment codes,
      long offset,
      long rowBytes,
      int entries,
      int first,
      int lanes,
      SumTile scratch,
      int count,
      float[] out,
      int outAt,
      int outStride) {
    for (int row = 0; row < count; row++) {
      for (int lane = first; lane < lanes; lane++) {
        float sum = 0;
        for (int e = 0; e < entries; e++) {
          short code = codes.get(SHORT, offset + e * rowBytes + 2L * lane);
          sum = Math.fma(scratch.weights[row * entries + e], code, sum);
        }
        out[outAt + row * outStride + lane] += sum;
      }
    }
  }
}
