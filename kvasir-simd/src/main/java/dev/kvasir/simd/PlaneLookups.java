package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.ADD;
import static jdk.incubator.vector.VectorOperators.AND;
import static jdk.incubator.vector.VectorOperators.FMA;
import static jdk.incubator.vector.VectorOperators.I2F;
import static jdk.incubator.vector.VectorOperators.LSHL;
import static jdk.incubator.vector.VectorOperators.LSHR;
import static jdk.incubator.vector.VectorOperators.SUB;

import dev.kvasir.kernel.LookupTables;
import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Sums over packed codes by table look-ups. Vectors have 128 bits on every machine: a wider one
 * would look up across its halves. {@link PlaneSums} has the loops; what they leave, two bytes'
 * sums in a 16-bit lane and those of the odd bytes alone, is taken apart here.
 */
final class PlaneLookups {
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_128;
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_128;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_128;
  private static final IntVector LOW_HALF = IntVector.broadcast(INTS, 0xFFFF);
  private static final int LEFT = PlaneSums.LEFT;

  /** Pairs of planes, or those and a single one, that eight bits can have. */
  private static final int MOST_PLANES = 4;

  /** Sums as the loops leave them. // (planes, tables, halves, 2, 8) */
  private static final ThreadLocal<short[]> SCRATCH =
      ThreadLocal.withInitial(() -> new short[MOST_PLANES * 2 * LookupTables.MOST_HEADS * LEFT]);

  private PlaneLookups() {}

  static void lookup(
      PlaneLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      LookupTables tables,
      float[] out,
      int outAt,
      int outStride) {
    tables.requireEntries(layout.entries());
    short[] scratch = SCRATCH.get();
    for (int tile = firstTile; tile < endTile; tile++) {
      sumTile(layout, tile, codes, offset, tables, scratch);
      int at = outAt + (tile - firstTile) * PlaneLayout.TILE;
      finishTile(layout, tile, tables, scratch, out, at, outStride);
    }
  }

  private static void sumTile(
      PlaneLayout layout,
      int tile,
      MemorySegment codes,
      long offset,
      LookupTables tables,
      short[] scratch) {
    int pairs = layout.pairs();
    boolean whole = layout.tileLanes(tile) == PlaneLayout.TILE;
    for (int pair = 0; pair < pairs; pair++) {
      long at = offset + layout.pairOffset(tile, 0, pair);
      int to = pair * tables.tables() * LEFT;
      sumRows(whole, codes, at, layout.quads(), tables, tables.pairAt(0, 0), scratch, to);
    }
    if (layout.hasSinglePlane()) {
      long at = offset + layout.singleOffset(tile, 0);
      int rows = Math.ceilDiv(layout.quads(), 2);
      int to = pairs * tables.tables() * LEFT;
      sumRows(whole, codes, at, rows, tables, tables.singleAt(0, 0), scratch, to);
    }
  }

  private static void sumRows(
      boolean wholeTile,
      MemorySegment codes,
      long at,
      int rows,
      LookupTables tables,
      int tablesAt,
      short[] scratch,
      int to) {
    int stride = tables.pairAt(1, 0);
    int count = tables.tables();
    if (wholeTile) {
      PlaneSums.sumRows(codes, at, rows, tables.bytes(), tablesAt, stride, count, scratch, to);
    } else {
      PlaneSums.sumHalfRows(codes, at, rows, tables.bytes(), tablesAt, stride, count, scratch, to);
    }
  }

  private static void finishTile(
      PlaneLayout layout,
      int tile,
      LookupTables tables,
      short[] scratch,
      float[] out,
      int outAt,
      int outStride) {
    int bits = layout.bits();
    int planes = Math.ceilDiv(bits, 2);
    int lanes = layout.tileLanes(tile);
    for (int head = 0; head < tables.heads(); head++) {
      float constant = tables.constant(head, bits);
      int at = outAt + head * outStride;
      finish(tables, head, planes, lanes, constant, scratch, out, at);
    }
  }

  /**
   * Sums of sixteen lanes at a time, over planes and digits. The 32-bit lane i of a vector of sums
   * holds, from its lowest byte up, lanes i, 4 + i, 8 + i and 12 + i.
   */
  private static void finish(
      LookupTables tables,
      int head,
      int planes,
      int lanes,
      float constant,
      short[] scratch,
      float[] out,
      int outAt) {
    FloatVector units = FloatVector.broadcast(FLOATS, tables.unit(head));
    FloatVector constants = FloatVector.broadcast(FLOATS, constant);
    int fine = tables.heads() * LEFT;
    int digits = tables.tables() * LEFT;
    for (int lane = 0; lane < lanes; lane += PlaneLayout.VECTOR) {
      IntVector sum0 = IntVector.zero(INTS);
      IntVector sum1 = IntVector.zero(INTS);
      IntVector sum2 = IntVector.zero(INTS);
      IntVector sum3 = IntVector.zero(INTS);
      for (int plane = 0; plane < planes; plane++) {
        int shift = 2 * plane;
        for (int digit = digits - fine; digit >= 0; digit -= fine) {
          int from = plane * digits + digit + head * LEFT + lane;
          ShortVector odd = ShortVector.fromArray(SHORTS, scratch, from + SHORTS.length());
          IntVector odds = odd.reinterpretAsInts();
          IntVector evens =
              ShortVector.fromArray(SHORTS, scratch, from)
                  .lanewise(SUB, odd.lanewise(LSHL, 8))
                  .reinterpretAsInts();
          sum0 = evens.lanewise(AND, LOW_HALF).lanewise(LSHL, shift).lanewise(ADD, sum0);
          sum1 = odds.lanewise(AND, LOW_HALF).lanewise(LSHL, shift).lanewise(ADD, sum1);
          sum2 = evens.lanewise(LSHR, 16).lanewise(LSHL, shift).lanewise(ADD, sum2);
          sum3 = odds.lanewise(LSHR, 16).lanewise(LSHL, shift).lanewise(ADD, sum3);
          shift += LookupTables.FINE_BITS;
        }
      }
      int at = outAt + lane;
      FloatVector result0 = (FloatVector) sum0.convertShape(I2F, FLOATS, 0);
      FloatVector result1 = (FloatVector) sum1.convertShape(I2F, FLOATS, 0);
      FloatVector result2 = (FloatVector) sum2.convertShape(I2F, FLOATS, 0);
      FloatVector result3 = (FloatVector) sum3.convertShape(I2F, FLOATS, 0);
      FloatVector.fromArray(FLOATS, out, at)
          .lanewise(ADD, result0.lanewise(FMA, units, constants))
          .intoArray(out, at);
      FloatVector.fromArray(FLOATS, out, at + 4)
          .lanewise(ADD, result1.lanewise(FMA, units, constants))
          .intoArray(out, at + 4);
      FloatVector.fromArray(FLOATS, out, at + 8)
          .lanewise(ADD, result2.lanewise(FMA, units, constants))
          .intoArray(out, at + 8);
      FloatVector.fromArray(FLOATS, out, at + 12)
          .lanewise(ADD, result3.lanewise(FMA, units, constants))
          .intoArray(out, at + 12);
    }
  }
}
