package dev.kvasir.simd;

import dev.kvasir.kernel.LookupTables;
import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/**
 * Sums over packed codes by table look-ups. Vectors have 128 bits on every machine: a wider one
 * would look up across its halves.
 *
 * <p>A row of bytes has two nibbles a lane, and each nibble a table: that of a quad and its double
 * for a pair of planes, those of two quads for a single plane. So one loop serves every width. It
 * sums 16-bit lanes of two bytes, and the odd bytes once more alone; {@link #finish} takes them
 * apart. First and second digits of all heads are tables alike, taken four, two or one at a time,
 * so that a code is loaded and shifted once for several.
 */
final class PlaneLookups {
  private static final VectorSpecies<Byte> BYTES = ByteVector.SPECIES_128;
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_128;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_128;
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_128;
  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final int SUMS = 16;
  private static final int TABLE = LookupTables.QUAD_BYTES;

  /** Shorts that a table leaves of a tile: as many as lanes, two vectors for each half. */
  private static final int LEFT = 32;

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
    int lanes = layout.tileLanes(tile);
    int step = tables.quadStride();
    // A half tile is summed twice rather than by loops of its own.
    int second = lanes - PlaneLayout.VECTOR;
    for (int pair = 0; pair < pairs; pair++) {
      long at = offset + layout.pairOffset(tile, 0, pair);
      int to = pair * tables.tables() * LEFT;
      sumRows(codes, at, second, pairs * lanes, layout.quads(), tables, step, SUMS, scratch, to);
    }
    if (layout.hasSinglePlane()) {
      long at = offset + layout.singleOffset(tile, 0);
      int rows = Math.ceilDiv(layout.quads(), 2);
      int to = pairs * tables.tables() * LEFT;
      sumRows(codes, at, second, lanes, rows, tables, 2 * step, step, scratch, to);
    }
  }

  private static void sumRows(
      MemorySegment codes,
      long at,
      int second,
      int rowBytes,
      int rows,
      LookupTables tables,
      int step,
      int high,
      short[] scratch,
      int to) {
    int count = tables.tables();
    byte[] bytes = tables.bytes();
    int table = 0;
    for (; table <= count - 4; table += 4) {
      sumFour(
          codes,
          at,
          second,
          rowBytes,
          rows,
          bytes,
          table * TABLE,
          step,
          high,
          scratch,
          to + table * LEFT);
    }
    if (table <= count - 2) {
      sumTwo(
          codes,
          at,
          second,
          rowBytes,
          rows,
          bytes,
          table * TABLE,
          step,
          high,
          scratch,
          to + table * LEFT);
      table += 2;
    }
    if (table < count) {
      sumOne(
          codes,
          at,
          second,
          rowBytes,
          rows,
          bytes,
          table * TABLE,
          step,
          high,
          scratch,
          to + table * LEFT);
    }
  }

  private static void sumFour(
      MemorySegment codes,
      long codesAt,
      int second,
      int rowBytes,
      int rows,
      byte[] tables,
      int tablesAt,
      int step,
      int high,
      short[] scratch,
      int to) {
    ShortVector both00 = ShortVector.zero(SHORTS);
    ShortVector odd00 = ShortVector.zero(SHORTS);
    ShortVector both01 = ShortVector.zero(SHORTS);
    ShortVector odd01 = ShortVector.zero(SHORTS);
    ShortVector both10 = ShortVector.zero(SHORTS);
    ShortVector odd10 = ShortVector.zero(SHORTS);
    ShortVector both11 = ShortVector.zero(SHORTS);
    ShortVector odd11 = ShortVector.zero(SHORTS);
    ShortVector both20 = ShortVector.zero(SHORTS);
    ShortVector odd20 = ShortVector.zero(SHORTS);
    ShortVector both21 = ShortVector.zero(SHORTS);
    ShortVector odd21 = ShortVector.zero(SHORTS);
    ShortVector both30 = ShortVector.zero(SHORTS);
    ShortVector odd30 = ShortVector.zero(SHORTS);
    ShortVector both31 = ShortVector.zero(SHORTS);
    ShortVector odd31 = ShortVector.zero(SHORTS);
    for (int row = 0; row < rows; row++) {
      long c = codesAt + (long) row * rowBytes;
      int t = tablesAt + row * step;
      ByteVector x0 = ByteVector.fromMemorySegment(BYTES, codes, c, ORDER);
      ByteVector x1 = ByteVector.fromMemorySegment(BYTES, codes, c + second, ORDER);
      ByteVector y0 = x0.lanewise(VectorOperators.LSHR, 4);
      ByteVector y1 = x1.lanewise(VectorOperators.LSHR, 4);
      ByteVector low0 = ByteVector.fromArray(BYTES, tables, t);
      ByteVector high0 = ByteVector.fromArray(BYTES, tables, t + high);
      ShortVector sum00 = x0.selectFrom(low0).add(y0.selectFrom(high0)).reinterpretAsShorts();
      both00 = both00.add(sum00);
      odd00 = odd00.add(sum00.lanewise(VectorOperators.LSHR, 8));
      ShortVector sum01 = x1.selectFrom(low0).add(y1.selectFrom(high0)).reinterpretAsShorts();
      both01 = both01.add(sum01);
      odd01 = odd01.add(sum01.lanewise(VectorOperators.LSHR, 8));
      ByteVector low1 = ByteVector.fromArray(BYTES, tables, t + 1 * TABLE);
      ByteVector high1 = ByteVector.fromArray(BYTES, tables, t + 1 * TABLE + high);
      ShortVector sum10 = x0.selectFrom(low1).add(y0.selectFrom(high1)).reinterpretAsShorts();
      both10 = both10.add(sum10);
      odd10 = odd10.add(sum10.lanewise(VectorOperators.LSHR, 8));
      ShortVector sum11 = x1.selectFrom(low1).add(y1.selectFrom(high1)).reinterpretAsShorts();
      both11 = both11.add(sum11);
      odd11 = odd11.add(sum11.lanewise(VectorOperators.LSHR, 8));
      ByteVector low2 = ByteVector.fromArray(BYTES, tables, t + 2 * TABLE);
      ByteVector high2 = ByteVector.fromArray(BYTES, tables, t + 2 * TABLE + high);
      ShortVector sum20 = x0.selectFrom(low2).add(y0.selectFrom(high2)).reinterpretAsShorts();
      both20 = both20.add(sum20);
      odd20 = odd20.add(sum20.lanewise(VectorOperators.LSHR, 8));
      ShortVector sum21 = x1.selectFrom(low2).add(y1.selectFrom(high2)).reinterpretAsShorts();
      both21 = both21.add(sum21);
      odd21 = odd21.add(sum21.lanewise(VectorOperators.LSHR, 8));
      ByteVector low3 = ByteVector.fromArray(BYTES, tables, t + 3 * TABLE);
      ByteVector high3 = ByteVector.fromArray(BYTES, tables, t + 3 * TABLE + high);
      ShortVector sum30 = x0.selectFrom(low3).add(y0.selectFrom(high3)).reinterpretAsShorts();
      both30 = both30.add(sum30);
      odd30 = odd30.add(sum30.lanewise(VectorOperators.LSHR, 8));
      ShortVector sum31 = x1.selectFrom(low3).add(y1.selectFrom(high3)).reinterpretAsShorts();
      both31 = both31.add(sum31);
      odd31 = odd31.add(sum31.lanewise(VectorOperators.LSHR, 8));
    }
    both00.intoArray(scratch, to);
    odd00.intoArray(scratch, to + 8);
    both01.intoArray(scratch, to + 16);
    odd01.intoArray(scratch, to + 24);
    both10.intoArray(scratch, to + 32);
    odd10.intoArray(scratch, to + 40);
    both11.intoArray(scratch, to + 48);
    odd11.intoArray(scratch, to + 56);
    both20.intoArray(scratch, to + 64);
    odd20.intoArray(scratch, to + 72);
    both21.intoArray(scratch, to + 80);
    odd21.intoArray(scratch, to + 88);
    both30.intoArray(scratch, to + 96);
    odd30.intoArray(scratch, to + 104);
    both31.intoArray(scratch, to + 112);
    odd31.intoArray(scratch, to + 120);
  }

  private static void sumTwo(
      MemorySegment codes,
      long codesAt,
      int second,
      int rowBytes,
      int rows,
      byte[] tables,
      int tablesAt,
      int step,
      int high,
      short[] scratch,
      int to) {
    ShortVector both00 = ShortVector.zero(SHORTS);
    ShortVector odd00 = ShortVector.zero(SHORTS);
    ShortVector both01 = ShortVector.zero(SHORTS);
    ShortVector odd01 = ShortVector.zero(SHORTS);
    ShortVector both10 = ShortVector.zero(SHORTS);
    ShortVector odd10 = ShortVector.zero(SHORTS);
    ShortVector both11 = ShortVector.zero(SHORTS);
    ShortVector odd11 = ShortVector.zero(SHORTS);
    for (int row = 0; row < rows; row++) {
      long c = codesAt + (long) row * rowBytes;
      int t = tablesAt + row * step;
      ByteVector x0 = ByteVector.fromMemorySegment(BYTES, codes, c, ORDER);
      ByteVector x1 = ByteVector.fromMemorySegment(BYTES, codes, c + second, ORDER);
      ByteVector y0 = x0.lanewise(VectorOperators.LSHR, 4);
      ByteVector y1 = x1.lanewise(VectorOperators.LSHR, 4);
      ByteVector low0 = ByteVector.fromArray(BYTES, tables, t);
      ByteVector high0 = ByteVector.fromArray(BYTES, tables, t + high);
      ShortVector sum00 = x0.selectFrom(low0).add(y0.selectFrom(high0)).reinterpretAsShorts();
      both00 = both00.add(sum00);
      odd00 = odd00.add(sum00.lanewise(VectorOperators.LSHR, 8));
      ShortVector sum01 = x1.selectFrom(low0).add(y1.selectFrom(high0)).reinterpretAsShorts();
      both01 = both01.add(sum01);
      odd01 = odd01.add(sum01.lanewise(VectorOperators.LSHR, 8));
      ByteVector low1 = ByteVector.fromArray(BYTES, tables, t + 1 * TABLE);
      ByteVector high1 = ByteVector.fromArray(BYTES, tables, t + 1 * TABLE + high);
      ShortVector sum10 = x0.selectFrom(low1).add(y0.selectFrom(high1)).reinterpretAsShorts();
      both10 = both10.add(sum10);
      odd10 = odd10.add(sum10.lanewise(VectorOperators.LSHR, 8));
      ShortVector sum11 = x1.selectFrom(low1).add(y1.selectFrom(high1)).reinterpretAsShorts();
      both11 = both11.add(sum11);
      odd11 = odd11.add(sum11.lanewise(VectorOperators.LSHR, 8));
    }
    both00.intoArray(scratch, to);
    odd00.intoArray(scratch, to + 8);
    both01.intoArray(scratch, to + 16);
    odd01.intoArray(scratch, to + 24);
    both10.intoArray(scratch, to + 32);
    odd10.intoArray(scratch, to + 40);
    both11.intoArray(scratch, to + 48);
    odd11.intoArray(scratch, to + 56);
  }

  private static void sumOne(
      MemorySegment codes,
      long codesAt,
      int second,
      int rowBytes,
      int rows,
      byte[] tables,
      int tablesAt,
      int step,
      int high,
      short[] scratch,
      int to) {
    ShortVector both00 = ShortVector.zero(SHORTS);
    ShortVector odd00 = ShortVector.zero(SHORTS);
    ShortVector both01 = ShortVector.zero(SHORTS);
    ShortVector odd01 = ShortVector.zero(SHORTS);
    for (int row = 0; row < rows; row++) {
      long c = codesAt + (long) row * rowBytes;
      int t = tablesAt + row * step;
      ByteVector x0 = ByteVector.fromMemorySegment(BYTES, codes, c, ORDER);
      ByteVector x1 = ByteVector.fromMemorySegment(BYTES, codes, c + second, ORDER);
      ByteVector y0 = x0.lanewise(VectorOperators.LSHR, 4);
      ByteVector y1 = x1.lanewise(VectorOperators.LSHR, 4);
      ByteVector low0 = ByteVector.fromArray(BYTES, tables, t);
      ByteVector high0 = ByteVector.fromArray(BYTES, tables, t + high);
      ShortVector sum00 = x0.selectFrom(low0).add(y0.selectFrom(high0)).reinterpretAsShorts();
      both00 = both00.add(sum00);
      odd00 = odd00.add(sum00.lanewise(VectorOperators.LSHR, 8));
      ShortVector sum01 = x1.selectFrom(low0).add(y1.selectFrom(high0)).reinterpretAsShorts();
      both01 = both01.add(sum01);
      odd01 = odd01.add(sum01.lanewise(VectorOperators.LSHR, 8));
    }
    both00.intoArray(scratch, to);
    odd00.intoArray(scratch, to + 8);
    both01.intoArray(scratch, to + 16);
    odd01.intoArray(scratch, to + 24);
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
    int levels = (1 << layout.bits()) - 1;
    int lanes = layout.tileLanes(tile);
    if (tables.exact()) {
      finishBoth(tables, levels, lanes, scratch, highest, stride, out, outAt, outStride);
    } else {
      finish(tables, levels, lanes, scratch, highest, stride, out, outAt, outStride);
    }
  }

  /**
   * Sums of sixteen lanes at a time, from the highest planes down. The 32-bit lane i of a vector of
   * sums holds, from its lowest byte up, lanes i, 4 + i, 8 + i and 12 + i.
   */
  private static void finish(
      LookupTables tables,
      int levels,
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
      FloatVector constants = FloatVector.broadcast(FLOATS, levels * tables.constant(head));
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
      int levels,
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
      FloatVector constants = FloatVector.broadcast(FLOATS, levels * tables.constant(head));
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
