package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.FMA;
import static jdk.incubator.vector.VectorOperators.MUL;

import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.kernel.CodedRows;
import dev.kvasir.kernel.TileRoom;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.Arrays;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Products of a tile with many rows of activations. Codes are multiplied as floats, which hold the
 * integer sums of a group exactly, since 32 * 128 * 127 is below 2^24: so the bits are those of
 * integer products, at the speed of fused multiply-adds. Four rows by two vectors of weights keep
 * eight sums in registers; a tile of sixteen lanes is two vectors of 256 bits, or twice two of 128.
 */
final class ManyProducts {
  private static final VectorSpecies<Float> SPECIES =
      VectorWidth.bits() >= 256 ? FloatVector.SPECIES_256 : FloatVector.SPECIES_128;
  private static final int LANES = SPECIES.length();
  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final int TILE = CodedMatrix.TILE_ROWS;
  private static final int ROWS = 4;

  private ManyProducts() {}

  /** The codes of a row of activations as floats. */
  static void prepare(CodedRows rows, int row) {
    byte[] codes = rows.codes();
    float[] floats = rows.floats();
    int end = rows.codesAt(row) + rows.columns();
    for (int i = rows.codesAt(row); i < end; i++) {
      floats[i] = codes[i];
    }
  }

  static void multiply(CodedMatrix matrix, int tile, CodedRows rows, float[] out, TileRoom room) {
    float[] weights = room.weights(matrix.columns() * TILE);
    expand(matrix, tile, room, weights);
    float[] sums = room.sums(rows.rows() * TILE);
    Arrays.fill(sums, 0, rows.rows() * TILE, 0);
    int row = 0;
    for (; row + ROWS <= rows.rows(); row += ROWS) {
      for (int lane = 0; lane < TILE; lane += 2 * LANES) {
        addFour(matrix, tile, rows, row, lane, weights, sums);
      }
    }
    for (; row < rows.rows(); row++) {
      for (int lane = 0; lane < TILE; lane += LANES) {
        addOne(matrix, tile, rows, row, lane, weights, sums);
      }
    }
    if (matrix.hasMinimums()) {
      addMinimums(matrix, tile, rows, sums);
    }
    place(matrix, tile, rows.rows(), sums, out);
  }

  /** Lanes lie as the scales do, so that a vector of sums meets a vector of scales. */
  private static void expand(CodedMatrix matrix, int tile, TileRoom room, float[] weights) {
    int count = (int) matrix.codesOffset(1);
    byte[] bytes = room.bytes(count);
    MemorySegment.copy(
        matrix.codes(), matrix.codesOffset(tile), MemorySegment.ofArray(bytes), 0, count);
    int columnsPerLane = 16 / matrix.codeBits();
    for (int lane = 0; lane < count / 2; lane += TILE) {
      int to = lane * columnsPerLane;
      for (int r = 0; r < TILE; r++) {
        int low = bytes[2 * (lane + r)];
        int high = bytes[2 * (lane + r) + 1];
        int at = to + (r & 1) * (TILE / 2) + (r >> 1);
        if (columnsPerLane == 2) {
          weights[at] = (low & 0xFF) - 128;
          weights[at + TILE] = high;
        } else {
          weights[at] = low & 15;
          weights[at + TILE] = low >> 4 & 15;
          weights[at + 2 * TILE] = high & 15;
          weights[at + 3 * TILE] = high >> 4 & 15;
        }
      }
    }
  }

  private static void addFour(
      CodedMatrix matrix,
      int tile,
      CodedRows rows,
      int row,
      int lane,
      float[] weights,
      float[] sums) {
    int length = matrix.groupLength();
    int columns = rows.columns();
    float[] x = rows.floats();
    int from = rows.codesAt(row);
    for (int group = 0; group < matrix.groups(); group++) {
      FloatVector s00 = FloatVector.zero(SPECIES);
      FloatVector s01 = FloatVector.zero(SPECIES);
      FloatVector s10 = FloatVector.zero(SPECIES);
      FloatVector s11 = FloatVector.zero(SPECIES);
      FloatVector s20 = FloatVector.zero(SPECIES);
      FloatVector s21 = FloatVector.zero(SPECIES);
      FloatVector s30 = FloatVector.zero(SPECIES);
      FloatVector s31 = FloatVector.zero(SPECIES);
      for (int c = group * length; c < (group + 1) * length; c++) {
        FloatVector w0 = FloatVector.fromArray(SPECIES, weights, c * TILE + lane);
        FloatVector w1 = FloatVector.fromArray(SPECIES, weights, c * TILE + lane + LANES);
        FloatVector a = FloatVector.broadcast(SPECIES, x[from + c]);
        s00 = a.lanewise(FMA, w0, s00);
        s01 = a.lanewise(FMA, w1, s01);
        a = FloatVector.broadcast(SPECIES, x[from + columns + c]);
        s10 = a.lanewise(FMA, w0, s10);
        s11 = a.lanewise(FMA, w1, s11);
        a = FloatVector.broadcast(SPECIES, x[from + 2 * columns + c]);
        s20 = a.lanewise(FMA, w0, s20);
        s21 = a.lanewise(FMA, w1, s21);
        a = FloatVector.broadcast(SPECIES, x[from + 3 * columns + c]);
        s30 = a.lanewise(FMA, w0, s30);
        s31 = a.lanewise(FMA, w1, s31);
      }
      MemorySegment scales = matrix.scales();
      long at = matrix.scalesOffset(tile) + Float.BYTES * ((long) group * TILE + lane);
      FloatVector w0 = FloatVector.fromMemorySegment(SPECIES, scales, at, ORDER);
      at += (long) Float.BYTES * LANES;
      FloatVector w1 = FloatVector.fromMemorySegment(SPECIES, scales, at, ORDER);
      int scale = rows.scalesAt(row) + group * length / CodedRows.GROUP;
      int stride = columns / CodedRows.GROUP;
      int to = row * TILE + lane;
      addScaled(s00, w0, rows.scales()[scale], sums, to);
      addScaled(s01, w1, rows.scales()[scale], sums, to + LANES);
      addScaled(s10, w0, rows.scales()[scale + stride], sums, to + TILE);
      addScaled(s11, w1, rows.scales()[scale + stride], sums, to + TILE + LANES);
      addScaled(s20, w0, rows.scales()[scale + 2 * stride], sums, to + 2 * TILE);
      addScaled(s21, w1, rows.scales()[scale + 2 * stride], sums, to + 2 * TILE + LANES);
      addScaled(s30, w0, rows.scales()[scale + 3 * stride], sums, to + 3 * TILE);
      addScaled(s31, w1, rows.scales()[scale + 3 * stride], sums, to + 3 * TILE + LANES);
    }
  }

  private static void addScaled(
      FloatVector sum, FloatVector weightScale, float scale, float[] sums, int at) {
    sum.lanewise(FMA, weightScale.lanewise(MUL, scale), FloatVector.fromArray(SPECIES, sums, at))
        .intoArray(sums, at);
  }

  private static void addOne(
      CodedMatrix matrix,
      int tile,
      CodedRows rows,
      int row,
      int lane,
      float[] weights,
      float[] sums) {
    int length = matrix.groupLength();
    float[] x = rows.floats();
    int from = rows.codesAt(row);
    for (int group = 0; group < matrix.groups(); group++) {
      FloatVector sum = FloatVector.zero(SPECIES);
      for (int c = group * length; c < (group + 1) * length; c++) {
        sum =
            FloatVector.fromArray(SPECIES, weights, c * TILE + lane)
                .lanewise(FMA, FloatVector.broadcast(SPECIES, x[from + c]), sum);
      }
      long at = matrix.scalesOffset(tile) + Float.BYTES * ((long) group * TILE + lane);
      FloatVector scale = FloatVector.fromMemorySegment(SPECIES, matrix.scales(), at, ORDER);
      float rowScale = rows.scales()[rows.scalesAt(row) + group * length / CodedRows.GROUP];
      addScaled(sum, scale, rowScale, sums, row * TILE + lane);
    }
  }

  private static void addMinimums(CodedMatrix matrix, int tile, CodedRows rows, float[] sums) {
    int sumsPerGroup = matrix.groupLength() / CodedRows.SUM_GROUP;
    for (int row = 0; row < rows.rows(); row++) {
      int from = rows.sumsAt(row);
      for (int lane = 0; lane < TILE; lane += LANES) {
        FloatVector sum = FloatVector.fromArray(SPECIES, sums, row * TILE + lane);
        for (int group = 0; group < matrix.groups(); group++) {
          float activations =
              sumsPerGroup == 1
                  ? rows.sums()[from + group]
                  : rows.sums()[from + 2 * group] + rows.sums()[from + 2 * group + 1];
          long at = matrix.scalesOffset(tile) + Float.BYTES * ((long) group * TILE + lane);
          sum =
              FloatVector.fromMemorySegment(SPECIES, matrix.minimums(), at, ORDER)
                  .lanewise(FMA, FloatVector.broadcast(SPECIES, activations), sum);
        }
        sum.intoArray(sums, row * TILE + lane);
      }
    }
  }

  private static void place(CodedMatrix matrix, int tile, int rows, float[] sums, float[] out) {
    int first = tile * TILE;
    int count = Math.min(TILE, matrix.rows() - first);
    for (int row = 0; row < rows; row++) {
      int to = row * matrix.rows() + first;
      for (int r = 0; r < count; r++) {
        out[to + r] = sums[row * TILE + (r & 1) * (TILE / 2) + (r >> 1)];
      }
    }
  }
}
