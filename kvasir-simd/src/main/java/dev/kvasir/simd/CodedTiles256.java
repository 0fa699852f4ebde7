package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.ADD;
import static jdk.incubator.vector.VectorOperators.ASHR;
import static jdk.incubator.vector.VectorOperators.FMA;
import static jdk.incubator.vector.VectorOperators.I2F;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LSHR;
import static jdk.incubator.vector.VectorOperators.MUL;
import static jdk.incubator.vector.VectorOperators.SUB;

import dev.kvasir.kernel.CodedMatrix;
import dev.kvasir.kernel.CodedRows;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Products of one tile, sixteen rows, with an activation row on vectors of 256 bits: one vector of
 * sixteen rows of 16-bit lanes. {@link CodedMatrix} explains the arithmetic.
 *
 * <p>A 32-bit lane holds the sums of two rows. {@code all} adds it whole and {@code odd} its upper
 * half, so the lower half's sum is {@code all - (odd << 16)}.
 */
final class CodedTiles256 {
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_256;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_256;
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_256;
  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final int LANES = 16;
  private static final int VECTOR_BYTES = 32;
  private static final int LANE_BYTES = 2 * CodedMatrix.TILE_ROWS;

  /** What each lane's sum is lifted by, so that halves never borrow from each other. */
  private static final int LIFT = 32768;

  private CodedTiles256() {}

  /**
   * Leaves the sums as rows 0 2 4 .. 14, then 1 3 5 .. 15.
   *
   * @param spread the row's multipliers from {@code spreadAt} on, as {@link Spread} lays them
   */
  static void multiply(
      CodedMatrix matrix,
      int tile,
      CodedRows rows,
      int row,
      short[] spread,
      int spreadAt,
      float[] out,
      int at) {
    if (matrix.codeBits() == 8) {
      pairs(matrix, tile, rows, row, spread, spreadAt, out, at);
    } else {
      quads(matrix, tile, rows, row, spread, spreadAt, out, at);
    }
    if (matrix.hasMinimums()) {
      addMinimums(matrix, tile, rows, row, out, at);
    }
  }

  private static void pairs(
      CodedMatrix matrix,
      int tile,
      CodedRows rows,
      int row,
      short[] spread,
      int spreadAt,
      float[] out,
      int at) {
    MemorySegment codes = matrix.codes();
    MemorySegment scales = matrix.scales();
    float[] rowScales = rows.scales();
    long code = matrix.codesOffset(tile);
    long scale = matrix.scalesOffset(tile);
    int groups = matrix.groups();
    int pairsPerGroup = matrix.groupLength() / 2;
    int groupsPerScale = CodedRows.GROUP / matrix.groupLength();
    IntVector lift = IntVector.broadcast(INTS, pairsPerGroup * LIFT);
    FloatVector evenSum0 = FloatVector.zero(FLOATS);
    FloatVector oddSum0 = FloatVector.zero(FLOATS);
    int multiplier = spreadAt;
    int rowScalesAt = rows.scalesAt(row);
    for (int group = 0; group < groups; group++) {
      IntVector all0 = IntVector.zero(INTS);
      IntVector odd0 = IntVector.zero(INTS);
      for (int pair = 0; pair < pairsPerGroup; pair++) {
        int m = multiplier + pair * 3 * LANES;
        long c = code + (long) pair * LANE_BYTES;
        ShortVector m0 = ShortVector.fromArray(SHORTS, spread, m);
        ShortVector m1 = ShortVector.fromArray(SHORTS, spread, m + LANES);
        ShortVector start = ShortVector.fromArray(SHORTS, spread, m + 2 * LANES);
        ShortVector x0 = ShortVector.fromMemorySegment(SHORTS, codes, c, ORDER);
        IntVector sum0 =
            start
                .lanewise(ADD, x0.lanewise(MUL, m0))
                .lanewise(ADD, x0.lanewise(ASHR, 8).lanewise(MUL, m1))
                .reinterpretAsInts();
        all0 = sum0.lanewise(ADD, all0);
        odd0 = sum0.lanewise(LSHR, 16).lanewise(ADD, odd0);
      }
      multiplier += pairsPerGroup * 3 * LANES;
      code += (long) pairsPerGroup * LANE_BYTES;
      FloatVector rowScale =
          FloatVector.broadcast(FLOATS, rowScales[rowScalesAt + group / groupsPerScale]);
      FloatVector even0 =
          (FloatVector)
              all0.lanewise(SUB, odd0.lanewise(LSHL, 16))
                  .lanewise(SUB, lift)
                  .convertShape(I2F, FLOATS, 0);
      FloatVector evenScale0 = FloatVector.fromMemorySegment(FLOATS, scales, scale + 0, ORDER);
      evenSum0 = even0.lanewise(FMA, evenScale0.lanewise(MUL, rowScale), evenSum0);
      FloatVector odds0 = (FloatVector) odd0.lanewise(SUB, lift).convertShape(I2F, FLOATS, 0);
      FloatVector oddScale0 = FloatVector.fromMemorySegment(FLOATS, scales, scale + 32, ORDER);
      oddSum0 = odds0.lanewise(FMA, oddScale0.lanewise(MUL, rowScale), oddSum0);
      scale += Float.BYTES * CodedMatrix.TILE_ROWS;
    }
    evenSum0.intoArray(out, at + 0);
    oddSum0.intoArray(out, at + 8);
  }

  private static void quads(
      CodedMatrix matrix,
      int tile,
      CodedRows rows,
      int row,
      short[] spread,
      int spreadAt,
      float[] out,
      int at) {
    MemorySegment codes = matrix.codes();
    MemorySegment scales = matrix.scales();
    float[] rowScales = rows.scales();
    long code = matrix.codesOffset(tile);
    long scale = matrix.scalesOffset(tile);
    int groups = matrix.groups();
    // Sixteen products of at most 15 * 127 fit a signed 16-bit lane; then they must be widened.
    int runsPerGroup = matrix.groupLength() / 16;
    int groupsPerScale = CodedRows.GROUP / matrix.groupLength();
    IntVector lift = IntVector.broadcast(INTS, runsPerGroup * LIFT);
    ShortVector start = ShortVector.broadcast(SHORTS, (short) LIFT);
    FloatVector evenSum0 = FloatVector.zero(FLOATS);
    FloatVector oddSum0 = FloatVector.zero(FLOATS);
    int multiplier = spreadAt;
    int rowScalesAt = rows.scalesAt(row);
    for (int group = 0; group < groups; group++) {
      IntVector all0 = IntVector.zero(INTS);
      IntVector odd0 = IntVector.zero(INTS);
      for (int run = 0; run < runsPerGroup; run++) {
        ShortVector sum0 = start;
        for (int quad = 0; quad < 4; quad++) {
          int m = multiplier + quad * 4 * LANES;
          long c = code + (long) quad * LANE_BYTES;
          ShortVector m0 = ShortVector.fromArray(SHORTS, spread, m);
          ShortVector m1 = ShortVector.fromArray(SHORTS, spread, m + LANES);
          ShortVector m2 = ShortVector.fromArray(SHORTS, spread, m + 2 * LANES);
          ShortVector m3 = ShortVector.fromArray(SHORTS, spread, m + 3 * LANES);
          ShortVector x0 = ShortVector.fromMemorySegment(SHORTS, codes, c, ORDER);
          sum0 =
              x0.lanewise(MUL, m0)
                  .lanewise(ADD, x0.lanewise(LSHR, 4).lanewise(MUL, m1))
                  .lanewise(ADD, x0.lanewise(LSHR, 8).lanewise(MUL, m2))
                  .lanewise(ADD, x0.lanewise(LSHR, 12).lanewise(MUL, m3))
                  .lanewise(ADD, sum0);
        }
        multiplier += 4 * 4 * LANES;
        code += 4 * LANE_BYTES;
        IntVector lanes0 = sum0.reinterpretAsInts();
        all0 = lanes0.lanewise(ADD, all0);
        odd0 = lanes0.lanewise(LSHR, 16).lanewise(ADD, odd0);
      }
      FloatVector rowScale =
          FloatVector.broadcast(FLOATS, rowScales[rowScalesAt + group / groupsPerScale]);
      FloatVector even0 =
          (FloatVector)
              all0.lanewise(SUB, odd0.lanewise(LSHL, 16))
                  .lanewise(SUB, lift)
                  .convertShape(I2F, FLOATS, 0);
      FloatVector evenScale0 = FloatVector.fromMemorySegment(FLOATS, scales, scale + 0, ORDER);
      evenSum0 = even0.lanewise(FMA, evenScale0.lanewise(MUL, rowScale), evenSum0);
      FloatVector odds0 = (FloatVector) odd0.lanewise(SUB, lift).convertShape(I2F, FLOATS, 0);
      FloatVector oddScale0 = FloatVector.fromMemorySegment(FLOATS, scales, scale + 32, ORDER);
      oddSum0 = odds0.lanewise(FMA, oddScale0.lanewise(MUL, rowScale), oddSum0);
      scale += Float.BYTES * CodedMatrix.TILE_ROWS;
    }
    evenSum0.intoArray(out, at + 0);
    oddSum0.intoArray(out, at + 8);
  }

  /** Adds minimum times the sum of the activations, group by group. */
  private static void addMinimums(
      CodedMatrix matrix, int tile, CodedRows rows, int row, float[] out, int at) {
    MemorySegment minimums = matrix.minimums();
    long offset = matrix.scalesOffset(tile);
    int sumsPerGroup = matrix.groupLength() / CodedRows.SUM_GROUP;
    float[] sums = rows.sums();
    int sumsAt = rows.sumsAt(row);
    FloatVector sum0 = FloatVector.fromArray(FLOATS, out, at + 0);
    FloatVector sum1 = FloatVector.fromArray(FLOATS, out, at + 8);
    for (int group = 0; group < matrix.groups(); group++) {
      float activations =
          sumsPerGroup == 1
              ? sums[sumsAt + group]
              : sums[sumsAt + 2 * group] + sums[sumsAt + 2 * group + 1];
      FloatVector factor = FloatVector.broadcast(FLOATS, activations);
      sum0 =
          FloatVector.fromMemorySegment(FLOATS, minimums, offset + 0, ORDER)
              .lanewise(FMA, factor, sum0);
      sum1 =
          FloatVector.fromMemorySegment(FLOATS, minimums, offset + 32, ORDER)
              .lanewise(FMA, factor, sum1);
      offset += Float.BYTES * CodedMatrix.TILE_ROWS;
    }
    sum0.intoArray(out, at + 0);
    sum1.intoArray(out, at + 8);
  }
}
