package dev.kvasir.simd;

import dev.kvasir.kernel.LookupTables;
import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Sums over packed codes by table look-ups. Vectors have 128 bits on every machine: a wider one
 * would look up across its halves. {@link PlaneSums} has the loops; what they leave, two bytes'
 * sums in a 16-bit lane and those of the odd bytes alone, is taken apart here.
 */
final class PlaneLookups {
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_128;
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_128;
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
    int stride = tables.tables() * LEFT;
    int highest = (Math.ceilDiv(layout.bits(), 2) - 1) * stride;
    int bits = layout.bits();
    int lanes = layout.tileLanes(tile);
    if (tables.exact()) {
      finishBoth(tables, bits, lanes, scratch, highest, stride, out, outAt, outStride);
    } else {
      finish(tables, bits, lanes, scratch, highest, stride, out, outAt, outStride);
    }
  }

  /**
   * Sums of sixteen lanes at a time, from the highest planes down. The 32-bit lane i of a vector of
   * sums holds, from its lowest byte up, lanes i, 4 + i, 8 + i and 12 + i.
   */
  private static void finish(
      LookupTables tables,
      int bits,
      int lanes,
      short[] scratch,
      int highest,
      int stride,
      float[] out,
      int outAt,
      int outStride) {
    int heads = tables.heads();
    for (int head = 0; head < heads; head++) {
      FloatVector units = FloatVector.broadcast(FLOATS, tables.unit(head));
      FloatVector constants = FloatVector.broadcast(FLOATS, tables.constant(head, bits));
      for (int lane = 0; lane < lanes; lane += PlaneLayout.VECTOR) {
        int from = head * LEFT + lane;
        int at = outAt + head * outStride + lane;
        ShortVector odd = ShortVector.fromArray(SHORTS, scratch, from + highest + 8);
        IntVector odds = odd.reinterpretAsInts();
        IntVector evens =
            ShortVector.fromArray(SHORTS, scratch, from + highest)
                .sub(odd.lanewise(VectorOperators.LSHL, 8))
                .reinterpretAsInts();
        IntVector sum0 = evens.and(0xFFFF);
        IntVector sum1 = odds.and(0xFFFF);
        IntVector sum2 = evens.lanewise(VectorOperators.LSHR, 16);
        IntVector sum3 = odds.lanewise(VectorOperators.LSHR, 16);
        for (int plane = highest - stride; plane >= 0; plane -= stride) {
          odd = ShortVector.fromArray(SHORTS, scratch, from + plane + 8);
          odds = odd.reinterpretAsInts();
          evens =
              ShortVector.fromArray(SHORTS, scratch, from + plane)
                  .sub(odd.lanewise(VectorOperators.LSHL, 8))
                  .reinterpretAsInts();
          sum0 = sum0.lanewise(VectorOperators.LSHL, 2).add(evens.and(0xFFFF));
          sum1 = sum1.lanewise(VectorOperators.LSHL, 2).add(odds.and(0xFFFF));
          sum2 =
              sum2.lanewise(VectorOperators.LSHL, 2).add(evens.lanewise(VectorOperators.LSHR, 16));
          sum3 =
              sum3.lanewise(VectorOperators.LSHL, 2).add(odds.lanewise(VectorOperators.LSHR, 16));
        }
        FloatVector.fromArray(FLOATS, out, at)
            .add(((FloatVector) sum0.convert(VectorOperators.I2F, 0)).fma(units, constants))
            .intoArray(out, at);
        FloatVector.fromArray(FLOATS, out, at + 4)
            .add(((FloatVector) sum1.convert(VectorOperators.I2F, 0)).fma(units, constants))
            .intoArray(out, at + 4);
        FloatVector.fromArray(FLOATS, out, at + 8)
            .add(((FloatVector) sum2.convert(VectorOperators.I2F, 0)).fma(units, constants))
            .intoArray(out, at + 8);
        FloatVector.fromArray(FLOATS, out, at + 12)
            .add(((FloatVector) sum3.convert(VectorOperators.I2F, 0)).fma(units, constants))
            .intoArray(out, at + 12);
      }
    }
  }

  /** The same of two digits. */
  private static void finishBoth(
      LookupTables tables,
      int bits,
      int lanes,
      short[] scratch,
      int highest,
      int stride,
      float[] out,
      int outAt,
      int outStride) {
    int fine = tables.heads() * LEFT;
    int heads = tables.heads();
    for (int head = 0; head < heads; head++) {
      FloatVector units = FloatVector.broadcast(FLOATS, tables.unit(head));
      FloatVector constants = FloatVector.broadcast(FLOATS, tables.constant(head, bits));
      for (int lane = 0; lane < lanes; lane += PlaneLayout.VECTOR) {
        int from = head * LEFT + lane;
        int at = outAt + head * outStride + lane;
        ShortVector odd = ShortVector.fromArray(SHORTS, scratch, from + highest + 8);
        IntVector odds = odd.reinterpretAsInts();
        IntVector evens =
            ShortVector.fromArray(SHORTS, scratch, from + highest)
                .sub(odd.lanewise(VectorOperators.LSHL, 8))
                .reinterpretAsInts();
        IntVector sum0 = evens.and(0xFFFF);
        IntVector sum1 = odds.and(0xFFFF);
        IntVector sum2 = evens.lanewise(VectorOperators.LSHR, 16);
        IntVector sum3 = odds.lanewise(VectorOperators.LSHR, 16);
        odd = ShortVector.fromArray(SHORTS, scratch, from + fine + highest + 8);
        odds = odd.reinterpretAsInts();
        evens =
            ShortVector.fromArray(SHORTS, scratch, from + fine + highest)
                .sub(odd.lanewise(VectorOperators.LSHL, 8))
                .reinterpretAsInts();
        IntVector rest0 = evens.and(0xFFFF);
        IntVector rest1 = odds.and(0xFFFF);
        IntVector rest2 = evens.lanewise(VectorOperators.LSHR, 16);
        IntVector rest3 = odds.lanewise(VectorOperators.LSHR, 16);
        for (int plane = highest - stride; plane >= 0; plane -= stride) {
          odd = ShortVector.fromArray(SHORTS, scratch, from + plane + 8);
          odds = odd.reinterpretAsInts();
          evens =
              ShortVector.fromArray(SHORTS, scratch, from + plane)
                  .sub(odd.lanewise(VectorOperators.LSHL, 8))
                  .reinterpretAsInts();
          sum0 = sum0.lanewise(VectorOperators.LSHL, 2).add(evens.and(0xFFFF));
          sum1 = sum1.lanewise(VectorOperators.LSHL, 2).add(odds.and(0xFFFF));
          sum2 =
              sum2.lanewise(VectorOperators.LSHL, 2).add(evens.lanewise(VectorOperators.LSHR, 16));
          sum3 =
              sum3.lanewise(VectorOperators.LSHL, 2).add(odds.lanewise(VectorOperators.LSHR, 16));
          odd = ShortVector.fromArray(SHORTS, scratch, from + fine + plane + 8);
          odds = odd.reinterpretAsInts();
          evens =
              ShortVector.fromArray(SHORTS, scratch, from + fine + plane)
                  .sub(odd.lanewise(VectorOperators.LSHL, 8))
                  .reinterpretAsInts();
          rest0 = rest0.lanewise(VectorOperators.LSHL, 2).add(evens.and(0xFFFF));
          rest1 = rest1.lanewise(VectorOperators.LSHL, 2).add(odds.and(0xFFFF));
          rest2 =
              rest2.lanewise(VectorOperators.LSHL, 2).add(evens.lanewise(VectorOperators.LSHR, 16));
          rest3 =
              rest3.lanewise(VectorOperators.LSHL, 2).add(odds.lanewise(VectorOperators.LSHR, 16));
        }
        FloatVector.fromArray(FLOATS, out, at)
            .add(
                ((FloatVector)
                        sum0.lanewise(VectorOperators.LSHL, LookupTables.FINE_BITS)
                            .add(rest0)
                            .convert(VectorOperators.I2F, 0))
                    .fma(units, constants))
            .intoArray(out, at);
        FloatVector.fromArray(FLOATS, out, at + 4)
            .add(
                ((FloatVector)
                        sum1.lanewise(VectorOperators.LSHL, LookupTables.FINE_BITS)
                            .add(rest1)
                            .convert(VectorOperators.I2F, 0))
                    .fma(units, constants))
            .intoArray(out, at + 4);
        FloatVector.fromArray(FLOATS, out, at + 8)
            .add(
                ((FloatVector)
                        sum2.lanewise(VectorOperators.LSHL, LookupTables.FINE_BITS)
                            .add(rest2)
                            .convert(VectorOperators.I2F, 0))
                    .fma(units, constants))
            .intoArray(out, at + 8);
        FloatVector.fromArray(FLOATS, out, at + 12)
            .add(
                ((FloatVector)
                        sum3.lanewise(VectorOperators.LSHL, LookupTables.FINE_BITS)
                            .add(rest3)
                            .convert(VectorOperators.I2F, 0))
                    .fma(units, constants))
            .intoArray(out, at + 12);
      }
    }
  }
}
