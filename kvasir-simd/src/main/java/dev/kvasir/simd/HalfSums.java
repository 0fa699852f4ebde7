package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.AND;
import static jdk.incubator.vector.VectorOperators.ASHR;
import static jdk.incubator.vector.VectorOperators.FMA;
import static jdk.incubator.vector.VectorOperators.LSHL;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Weighted sums of rows of 16-bit floats, which become floats in registers as {@link HalfProducts}
 * says. A tile of four rows of weights by four vectors of channels reads every value once for four
 * query heads and keeps its sums in registers through all tokens.
 */
final class HalfSums {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final int LANES = FLOATS.length();
  private static final IntVector HALF_BITS = IntVector.broadcast(INTS, HalfFloats.HALF_BITS);
  private static final IntVector UPPER_HALF = IntVector.broadcast(INTS, HalfFloats.UPPER_HALF);

  private HalfSums() {}

  /** A kernel that leaves the sums of a tile; {@link HalfProducts} says why it is an interface. */
  private interface TileSums {
    void sum(MemorySegment rows, long at, long rowBytes, int tokens, float[] weights, float[] sums);
  }

  private static TileSums tileSums(Precision precision, int rows) {
    if (precision == Precision.F16) {
      return rows == 1 ? HalfSums::oneHalfSums : HalfSums::fourHalfSums;
    }
    return rows == 1 ? HalfSums::oneBrainHalfSums : HalfSums::fourBrainHalfSums;
  }

  static void weightedSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      DenseMatrix v,
      int firstRow,
      int tokens,
      float[] out,
      int outAt,
      int outStride) {
    SumTile scratch = SumTile.ofThread(tokens);
    // What is stored is 2^-112 of a half's value; the weights make up for it.
    float lift = HalfFloats.lift(v.precision());
    long rowBytes = 2L * v.columns();
    for (int i = 0; i < rows; ) {
      int count = SumTile.rows(rows - i);
      int from = weightsAt + i * weightsStride;
      int to = outAt + i * outStride;
      scratch.arrange(weights, from, weightsStride, count, tokens, lift);
      TileSums kernel = tileSums(v.precision(), count);
      int channel = 0;
      for (; channel <= v.columns() - SumTile.LANES; channel += SumTile.LANES) {
        long at = v.offset(firstRow) + 2L * channel;
        kernel.sum(v.data(), at, rowBytes, tokens, scratch.weights, scratch.sums);
        scratch.addInOrder(count, out, to + channel, outStride);
      }
      rest(weights, from, weightsStride, count, v, firstRow, tokens, channel, out, to, outStride);
      i += count;
    }
  }

  private static void fourHalfSums(
      MemorySegment rows, long at, long rowBytes, int tokens, float[] weights, float[] sums) {
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
    for (int t = 0; t < tokens; t++) {
      long row = at + t * rowBytes;
      IntVector x = IntVector.fromMemorySegment(INTS, rows, row, ORDER);
      FloatVector even0 =
          x.lanewise(LSHL, 16).lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      FloatVector odd0 = x.lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      x = IntVector.fromMemorySegment(INTS, rows, row + 4L * LANES, ORDER);
      FloatVector even1 =
          x.lanewise(LSHL, 16).lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      FloatVector odd1 = x.lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      FloatVector w = FloatVector.broadcast(FLOATS, weights[t]);
      s00 = even0.lanewise(FMA, w, s00);
      s01 = odd0.lanewise(FMA, w, s01);
      s02 = even1.lanewise(FMA, w, s02);
      s03 = odd1.lanewise(FMA, w, s03);
      w = FloatVector.broadcast(FLOATS, weights[tokens + t]);
      s10 = even0.lanewise(FMA, w, s10);
      s11 = odd0.lanewise(FMA, w, s11);
      s12 = even1.lanewise(FMA, w, s12);
      s13 = odd1.lanewise(FMA, w, s13);
      w = FloatVector.broadcast(FLOATS, weights[2 * tokens + t]);
      s20 = even0.lanewise(FMA, w, s20);
      s21 = odd0.lanewise(FMA, w, s21);
      s22 = even1.lanewise(FMA, w, s22);
      s23 = odd1.lanewise(FMA, w, s23);
      w = FloatVector.broadcast(FLOATS, weights[3 * tokens + t]);
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

  private static void oneHalfSums(
      MemorySegment rows, long at, long rowBytes, int tokens, float[] weights, float[] sums) {
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = s00;
    FloatVector s02 = s00;
    FloatVector s03 = s00;
    for (int t = 0; t < tokens; t++) {
      long row = at + t * rowBytes;
      IntVector x = IntVector.fromMemorySegment(INTS, rows, row, ORDER);
      FloatVector even0 =
          x.lanewise(LSHL, 16).lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      FloatVector odd0 = x.lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      x = IntVector.fromMemorySegment(INTS, rows, row + 4L * LANES, ORDER);
      FloatVector even1 =
          x.lanewise(LSHL, 16).lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      FloatVector odd1 = x.lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      FloatVector w = FloatVector.broadcast(FLOATS, weights[t]);
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

  private static void fourBrainHalfSums(
      MemorySegment rows, long at, long rowBytes, int tokens, float[] weights, float[] sums) {
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
    for (int t = 0; t < tokens; t++) {
      long row = at + t * rowBytes;
      IntVector x = IntVector.fromMemorySegment(INTS, rows, row, ORDER);
      FloatVector even0 = x.lanewise(LSHL, 16).reinterpretAsFloats();
      FloatVector odd0 = x.lanewise(AND, UPPER_HALF).reinterpretAsFloats();
      x = IntVector.fromMemorySegment(INTS, rows, row + 4L * LANES, ORDER);
      FloatVector even1 = x.lanewise(LSHL, 16).reinterpretAsFloats();
      FloatVector odd1 = x.lanewise(AND, UPPER_HALF).reinterpretAsFloats();
      FloatVector w = FloatVector.broadcast(FLOATS, weights[t]);
      s00 = even0.lanewise(FMA, w, s00);
      s01 = odd0.lanewise(FMA, w, s01);
      s02 = even1.lanewise(FMA, w, s02);
      s03 = odd1.lanewise(FMA, w, s03);
      w = FloatVector.broadcast(FLOATS, weights[tokens + t]);
      s10 = even0.lanewise(FMA, w, s10);
      s11 = odd0.lanewise(FMA, w, s11);
      s12 = even1.lanewise(FMA, w, s12);
      s13 = odd1.lanewise(FMA, w, s13);
      w = FloatVector.broadcast(FLOATS, weights[2 * tokens + t]);
      s20 = even0.lanewise(FMA, w, s20);
      s21 = odd0.lanewise(FMA, w, s21);
      s22 = even1.lanewise(FMA, w, s22);
      s23 = odd1.lanewise(FMA, w, s23);
      w = FloatVector.broadcast(FLOATS, weights[3 * tokens + t]);
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

  private static void oneBrainHalfSums(
      MemorySegment rows, long at, long rowBytes, int tokens, float[] weights, float[] sums) {
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = s00;
    FloatVector s02 = s00;
    FloatVector s03 = s00;
    for (int t = 0; t < tokens; t++) {
      long row = at + t * rowBytes;
      IntVector x = IntVector.fromMemorySegment(INTS, rows, row, ORDER);
      FloatVector even0 = x.lanewise(LSHL, 16).reinterpretAsFloats();
      FloatVector odd0 = x.lanewise(AND, UPPER_HALF).reinterpretAsFloats();
      x = IntVector.fromMemorySegment(INTS, rows, row + 4L * LANES, ORDER);
      FloatVector even1 = x.lanewise(LSHL, 16).reinterpretAsFloats();
      FloatVector odd1 = x.lanewise(AND, UPPER_HALF).reinterpretAsFloats();
      FloatVector w = FloatVector.broadcast(FLOATS, weights[t]);
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

  /** Channels that do not fill a tile. */
  private static void rest(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int count,
      DenseMatrix v,
      int firstRow,
      int tokens,
      int firstChannel,
      float[] out,
      int outAt,
      int outStride) {
    for (int row = 0; row < count; row++) {
      for (int channel = firstChannel; channel < v.columns(); channel++) {
        float sum = 0;
        for (int t = 0; t < tokens; t++) {
          float weight = weights[weightsAt + row * weightsStride + t];
          sum = Math.fma(weight, v.value(firstRow + t, channel), sum);
        }
        out[outAt + row * outStride + channel] += sum;
      }
    }
  }
}
