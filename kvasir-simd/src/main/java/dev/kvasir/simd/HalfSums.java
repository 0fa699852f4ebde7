package dev.kvasir.simd;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Weighted sums of rows of 16-bit floats, which become floats in registers as {@link HalfProducts}
 * says. A tile of four rows of weights by four vectors of channels reads every value once for four
 * query heads and keeps its sums in registers through all tokens.
 */
final class HalfSums {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_PREFERRED;
  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final int LANES = FLOATS.length();
  private static final int HALF_BITS = HalfFloats.HALF_BITS;
  private static final int UPPER_HALF = HalfFloats.UPPER_HALF;
  private static final int TILE = 4;

  /** Channels of a tile: two vectors of even ones and two of odd ones. */
  private static final int TILE_CHANNELS = 4 * LANES;

  private record Scratch(float[] weights, float[] sums) {}

  private static final ThreadLocal<Scratch> SCRATCH =
      ThreadLocal.withInitial(() -> new Scratch(new float[0], new float[0]));

  private HalfSums() {}

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
    Scratch scratch = scratch(tokens);
    float lift = HalfFloats.lift(v.precision());
    for (int i = 0; i < rows; ) {
      int count = rows - i == 1 ? 1 : Math.min(TILE, rows - i);
      int from = weightsAt + i * weightsStride;
      int to = outAt + i * outStride;
      lift(weights, from, weightsStride, count, tokens, lift, scratch.weights);
      int channel = 0;
      for (; channel <= v.columns() - TILE_CHANNELS; channel += TILE_CHANNELS) {
        tile(v, firstRow, channel, tokens, count, scratch);
        addInOrder(scratch.sums, count, out, to + channel, outStride);
      }
      rest(weights, from, weightsStride, count, v, firstRow, tokens, channel, out, to, outStride);
      i += count;
    }
  }

  private static Scratch scratch(int tokens) {
    Scratch scratch = SCRATCH.get();
    if (scratch.weights.length < TILE * tokens) {
      scratch = new Scratch(new float[TILE * tokens], new float[TILE * TILE_CHANNELS]);
      SCRATCH.set(scratch);
    }
    return scratch;
  }

  /** What is stored is 2^-112 of a half's value; the weights make up for it. */
  private static void lift(
      float[] weights, int at, int stride, int count, int tokens, float lift, float[] lifted) {
    int tileRows = count == 1 ? 1 : TILE;
    for (int row = 0; row < tileRows; row++) {
      if (row < count) {
        int from = at + row * stride;
        int to = row * tokens;
        int t = 0;
        for (; t <= tokens - LANES; t += LANES) {
          FloatVector.fromArray(FLOATS, weights, from + t).mul(lift).intoArray(lifted, to + t);
        }
        for (; t < tokens; t++) {
          lifted[to + t] = weights[from + t] * lift;
        }
      } else {
        Arrays.fill(lifted, row * tokens, (row + 1) * tokens, 0);
      }
    }
  }

  private static void tile(
      DenseMatrix v, int firstRow, int channel, int tokens, int count, Scratch scratch) {
    long at = v.offset(firstRow) + 2L * channel;
    long rowBytes = 2L * v.columns();
    float[] weights = scratch.weights;
    float[] sums = scratch.sums;
    if (v.precision() == Precision.F16) {
      if (count == 1) {
        oneHalfSums(v.data(), at, rowBytes, tokens, weights, sums);
      } else {
        fourHalfSums(v.data(), at, rowBytes, tokens, weights, sums);
      }
    } else if (count == 1) {
      oneBrainHalfSums(v.data(), at, rowBytes, tokens, weights, sums);
    } else {
      fourBrainHalfSums(v.data(), at, rowBytes, tokens, weights, sums);
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
      IntVector x = ShortVector.fromMemorySegment(SHORTS, rows, row, ORDER).reinterpretAsInts();
      FloatVector even0 =
          x.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 3)
              .and(HALF_BITS)
              .reinterpretAsFloats();
      FloatVector odd0 = x.lanewise(VectorOperators.ASHR, 3).and(HALF_BITS).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, row + 4L * LANES, ORDER).reinterpretAsInts();
      FloatVector even1 =
          x.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 3)
              .and(HALF_BITS)
              .reinterpretAsFloats();
      FloatVector odd1 = x.lanewise(VectorOperators.ASHR, 3).and(HALF_BITS).reinterpretAsFloats();
      FloatVector w = FloatVector.broadcast(FLOATS, weights[t]);
      s00 = w.fma(even0, s00);
      s01 = w.fma(odd0, s01);
      s02 = w.fma(even1, s02);
      s03 = w.fma(odd1, s03);
      w = FloatVector.broadcast(FLOATS, weights[tokens + t]);
      s10 = w.fma(even0, s10);
      s11 = w.fma(odd0, s11);
      s12 = w.fma(even1, s12);
      s13 = w.fma(odd1, s13);
      w = FloatVector.broadcast(FLOATS, weights[2 * tokens + t]);
      s20 = w.fma(even0, s20);
      s21 = w.fma(odd0, s21);
      s22 = w.fma(even1, s22);
      s23 = w.fma(odd1, s23);
      w = FloatVector.broadcast(FLOATS, weights[3 * tokens + t]);
      s30 = w.fma(even0, s30);
      s31 = w.fma(odd0, s31);
      s32 = w.fma(even1, s32);
      s33 = w.fma(odd1, s33);
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
      IntVector x = ShortVector.fromMemorySegment(SHORTS, rows, row, ORDER).reinterpretAsInts();
      FloatVector even0 =
          x.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 3)
              .and(HALF_BITS)
              .reinterpretAsFloats();
      FloatVector odd0 = x.lanewise(VectorOperators.ASHR, 3).and(HALF_BITS).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, row + 4L * LANES, ORDER).reinterpretAsInts();
      FloatVector even1 =
          x.lanewise(VectorOperators.LSHL, 16)
              .lanewise(VectorOperators.ASHR, 3)
              .and(HALF_BITS)
              .reinterpretAsFloats();
      FloatVector odd1 = x.lanewise(VectorOperators.ASHR, 3).and(HALF_BITS).reinterpretAsFloats();
      FloatVector w = FloatVector.broadcast(FLOATS, weights[t]);
      s00 = w.fma(even0, s00);
      s01 = w.fma(odd0, s01);
      s02 = w.fma(even1, s02);
      s03 = w.fma(odd1, s03);
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
      IntVector x = ShortVector.fromMemorySegment(SHORTS, rows, row, ORDER).reinterpretAsInts();
      FloatVector even0 = x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
      FloatVector odd0 = x.and(UPPER_HALF).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, row + 4L * LANES, ORDER).reinterpretAsInts();
      FloatVector even1 = x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
      FloatVector odd1 = x.and(UPPER_HALF).reinterpretAsFloats();
      FloatVector w = FloatVector.broadcast(FLOATS, weights[t]);
      s00 = w.fma(even0, s00);
      s01 = w.fma(odd0, s01);
      s02 = w.fma(even1, s02);
      s03 = w.fma(odd1, s03);
      w = FloatVector.broadcast(FLOATS, weights[tokens + t]);
      s10 = w.fma(even0, s10);
      s11 = w.fma(odd0, s11);
      s12 = w.fma(even1, s12);
      s13 = w.fma(odd1, s13);
      w = FloatVector.broadcast(FLOATS, weights[2 * tokens + t]);
      s20 = w.fma(even0, s20);
      s21 = w.fma(odd0, s21);
      s22 = w.fma(even1, s22);
      s23 = w.fma(odd1, s23);
      w = FloatVector.broadcast(FLOATS, weights[3 * tokens + t]);
      s30 = w.fma(even0, s30);
      s31 = w.fma(odd0, s31);
      s32 = w.fma(even1, s32);
      s33 = w.fma(odd1, s33);
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
      IntVector x = ShortVector.fromMemorySegment(SHORTS, rows, row, ORDER).reinterpretAsInts();
      FloatVector even0 = x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
      FloatVector odd0 = x.and(UPPER_HALF).reinterpretAsFloats();
      x = ShortVector.fromMemorySegment(SHORTS, rows, row + 4L * LANES, ORDER).reinterpretAsInts();
      FloatVector even1 = x.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
      FloatVector odd1 = x.and(UPPER_HALF).reinterpretAsFloats();
      FloatVector w = FloatVector.broadcast(FLOATS, weights[t]);
      s00 = w.fma(even0, s00);
      s01 = w.fma(odd0, s01);
      s02 = w.fma(even1, s02);
      s03 = w.fma(odd1, s03);
    }
    s00.intoArray(sums, 0 * LANES);
    s01.intoArray(sums, 1 * LANES);
    s02.intoArray(sums, 2 * LANES);
    s03.intoArray(sums, 3 * LANES);
  }

  /** Adds a tile's sums, putting even and odd channels back in their places. */
  static void addInOrder(float[] sums, int count, float[] out, int outAt, int outStride) {
    for (int row = 0; row < count; row++) {
      for (int half = 0; half < 2; half++) {
        int from = (TILE * row + 2 * half) * LANES;
        int to = outAt + row * outStride + half * 2 * LANES;
        for (int i = 0; i < LANES; i++) {
          out[to + 2 * i] += sums[from + i];
          out[to + 2 * i + 1] += sums[from + LANES + i];
        }
      }
    }
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
