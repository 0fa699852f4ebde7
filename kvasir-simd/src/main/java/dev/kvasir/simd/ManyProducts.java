package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.FMA;

import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.kernel.CodedRows;
import dev.kvasir.kernel.TileRoom;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
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
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
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

  /** With rows {@code firstRow} to {@code endRow} of the activations. */
  static void multiply(
      CodedMatrix matrix,
      int tile,
      CodedRows rows,
      int firstRow,
      int endRow,
      float[] out,
      TileRoom room) {
    int codes = matrix.columns() * TILE;
    int groups = matrix.groups() * TILE;
    float[] weights = room.weights(codes + 2 * groups); // codes, scales, minimums
    expand(matrix, tile, room, weights);
    copyFloats(matrix.scales(), matrix.scalesOffset(tile), groups, weights, codes);
    int all = endRow - firstRow;
    // Totals of all rows, then the sums of a group for four.
    float[] sums = room.sums((all + ROWS) * TILE);
    Arrays.fill(sums, 0, all * TILE, 0);
    for (int done = 0; done < all; done += ROWS) {
      int count = Math.min(ROWS, all - done);
      addRows(matrix, rows, firstRow + done, count, weights, sums, done * TILE, all * TILE);
    }
    if (matrix.hasMinimums()) {
      copyFloats(matrix.minimums(), matrix.scalesOffset(tile), groups, weights, codes + groups);
      addMinimums(matrix, rows, firstRow, endRow, weights, codes + groups, sums);
    }
    place(matrix, tile, firstRow, endRow, sums, out);
  }

  private static void copyFloats(MemorySegment from, long offset, int count, float[] to, int toAt) {
    MemorySegment.copy(from, FLOAT, offset, to, toAt, count);
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

  /**
   * @param to where the rows' totals lie
   * @param part where there is room for the sums of a group
   */
  private static void addRows(
      CodedMatrix matrix,
      CodedRows rows,
      int row,
      int count,
      float[] weights,
      float[] sums,
      int to,
      int part) {
    int length = matrix.groupLength();
    for (int group = 0; group < matrix.groups(); group++) {
      int column = group * length;
      if (count == ROWS) {
        for (int lane = 0; lane < TILE; lane += 2 * LANES) {
          sumFour(rows, row, column, length, lane, weights, sums, part + lane);
        }
      } else {
        for (int i = 0; i < count; i++) {
          sumOne(rows, row + i, column, length, weights, sums, part + i * TILE);
        }
      }
      int scales = matrix.columns() * TILE + group * TILE;
      for (int i = 0; i < count; i++) {
        float scale = rows.scales()[rows.scalesAt(row + i) + column / CodedRows.GROUP];
        addScaled(sums, part + i * TILE, weights, scales, scale, to + i * TILE);
      }
    }
  }

  private static void addScaled(
      float[] sums, int from, float[] scales, int scalesAt, float scale, int to) {
    for (int lane = 0; lane < TILE; lane++) {
      sums[to + lane] =
          Math.fma(sums[from + lane], scales[scalesAt + lane] * scale, sums[to + lane]);
    }
  }

  private static void sumFour(
      CodedRows rows,
      int row,
      int column,
      int length,
      int lane,
      float[] weights,
      float[] sums,
      int to) {
    float[] x = rows.floats();
    int x0 = rows.codesAt(row) + column;
    int x1 = x0 + rows.columns();
    int x2 = x1 + rows.columns();
    int x3 = x2 + rows.columns();
    int w = column * TILE + lane;
    FloatVector s00 = FloatVector.zero(SPECIES);
    FloatVector s01 = FloatVector.zero(SPECIES);
    FloatVector s10 = FloatVector.zero(SPECIES);
    FloatVector s11 = FloatVector.zero(SPECIES);
    FloatVector s20 = FloatVector.zero(SPECIES);
    FloatVector s21 = FloatVector.zero(SPECIES);
    FloatVector s30 = FloatVector.zero(SPECIES);
    FloatVector s31 = FloatVector.zero(SPECIES);
    for (int c = 0; c < length; c++) {
      FloatVector w0 = FloatVector.fromArray(SPECIES, weights, w);
      FloatVector w1 = FloatVector.fromArray(SPECIES, weights, w + LANES);
      FloatVector a = FloatVector.broadcast(SPECIES, x[x0 + c]);
      s00 = a.lanewise(FMA, w0, s00);
      s01 = a.lanewise(FMA, w1, s01);
      a = FloatVector.broadcast(SPECIES, x[x1 + c]);
      s10 = a.lanewise(FMA, w0, s10);
      s11 = a.lanewise(FMA, w1, s11);
      a = FloatVector.broadcast(SPECIES, x[x2 + c]);
      s20 = a.lanewise(FMA, w0, s20);
      s21 = a.lanewise(FMA, w1, s21);
      a = FloatVector.broadcast(SPECIES, x[x3 + c]);
      s30 = a.lanewise(FMA, w0, s30);
      s31 = a.lanewise(FMA, w1, s31);
      w += TILE;
    }
    s00.intoArray(sums, to);
    s01.intoArray(sums, to + LANES);
    s10.intoArray(sums, to + TILE);
    s11.intoArray(sums, to + TILE + LANES);
    s20.intoArray(sums, to + 2 * TILE);
    s21.intoArray(sums, to + 2 * TILE + LANES);
    s30.intoArray(sums, to + 3 * TILE);
    s31.intoArray(sums, to + 3 * TILE + LANES);
  }

  private static void sumOne(
      CodedRows rows, int row, int column, int length, float[] weights, float[] sums, int to) {
    float[] x = rows.floats();
    int from = rows.codesAt(row) + column;
    for (int lane = 0; lane < TILE; lane += LANES) {
      FloatVector sum = FloatVector.zero(SPECIES);
      for (int c = 0; c < length; c++) {
        FloatVector w = FloatVector.fromArray(SPECIES, weights, (column + c) * TILE + lane);
        sum = FloatVector.broadcast(SPECIES, x[from + c]).lanewise(FMA, w, sum);
      }
      sum.intoArray(sums, to + lane);
    }
  }

  private static void addMinimums(
      CodedMatrix matrix,
      CodedRows rows,
      int firstRow,
      int endRow,
      float[] minimums,
      int at,
      float[] sums) {
    boolean isShort = matrix.groupLength() == CodedRows.SUM_GROUP;
    float[] known = rows.sums();
    for (int row = firstRow; row < endRow; row++) {
      int from = rows.sumsAt(row);
      for (int group = 0; group < matrix.groups(); group++) {
        float sum =
            isShort ? known[from + group] : known[from + 2 * group] + known[from + 2 * group + 1];
        addTimes(minimums, at + group * TILE, sum, sums, (row - firstRow) * TILE);
      }
    }
  }

  private static void addTimes(float[] x, int at, float factor, float[] sums, int to) {
    for (int lane = 0; lane < TILE; lane++) {
      sums[to + lane] = Math.fma(x[at + lane], factor, sums[to + lane]);
    }
  }

  private static void place(
      CodedMatrix matrix, int tile, int firstRow, int endRow, float[] sums, float[] out) {
    int first = tile * TILE;
    int count = Math.min(TILE, matrix.rows() - first);
    for (int row = firstRow; row < endRow; row++) {
      int to = row * matrix.rows() + first;
      int from = (row - firstRow) * TILE;
      for (int r = 0; r < count; r++) {
        out[to + r] = sums[from + (r & 1) * (TILE / 2) + (r >> 1)];
      }
    }
  }
}
