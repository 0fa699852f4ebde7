package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.ADD;
import static jdk.incubator.vector.VectorOperators.LSHR;

import dev.kvasir.kernel.LookupTables;
import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.ShortVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * The loops over packed codes. A row of bytes has two nibbles a lane, and each nibble a table: that
 * of a quad and its double for a pair of planes, those of two quads for a single plane. So one loop
 * serves every width. It sums 16-bit lanes of two bytes, and the odd bytes once more alone, since
 * that takes two instructions where widening takes four.
 *
 * <p>First and second digits of all heads are tables alike, taken four, two or one at a time, so
 * that a code is loaded and shifted once for several. Four tables and two halves of a tile keep
 * sixteen sums in registers. Rows of codes and of tables have fixed steps: only then does the
 * compiler take the checks of bounds out of the loop, which cost as much as the sums.
 */
final class PlaneSums {
  /** Shorts that a table leaves of a tile: as many as lanes, two vectors for each half. */
  static final int LEFT = 32;

  private static final VectorSpecies<Byte> BYTES = ByteVector.SPECIES_128;
  private static final VectorSpecies<Short> SHORTS = ShortVector.SPECIES_128;
  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final int SUMS = LookupTables.SUMS;
  private static final int TABLE_ROW = LookupTables.ROW_BYTES;
  private static final int TILE = PlaneLayout.TILE;
  private static final int HALF_TILE = PlaneLayout.VECTOR;

  private PlaneSums() {}

  /**
   * Leaves the sums of all tables over some rows of bytes.
   *
   * @param tablesAt where the first table's row lies that belongs to the first row of codes
   * @param tableStride bytes from a table to the next
   */
  static void sumRows(
      MemorySegment codes,
      long at,
      int rows,
      byte[] tables,
      int tablesAt,
      int tableStride,
      int count,
      short[] scratch,
      int to) {
    int table = 0;
    for (; table <= count - 4; table += 4) {
      int first = tablesAt + table * tableStride;
      sumFour(codes, at, rows, tables, first, tableStride, scratch, to + table * LEFT);
    }
    if (table <= count - 2) {
      int first = tablesAt + table * tableStride;
      sumTwo(codes, at, rows, tables, first, tableStride, scratch, to + table * LEFT);
      table += 2;
    }
    if (table < count) {
      sumOne(codes, at, rows, tables, tablesAt + table * tableStride, scratch, to + table * LEFT);
    }
  }

  /** The same over the rows of a tile of sixteen lanes: few heads have one, and at the end only. */
  static void sumHalfRows(
      MemorySegment codes,
      long at,
      int rows,
      byte[] tables,
      int tablesAt,
      int tableStride,
      int count,
      short[] scratch,
      int to) {
    for (int table = 0; table < count; table++) {
      sumHalf(codes, at, rows, tables, tablesAt + table * tableStride, scratch, to + table * LEFT);
    }
  }

  private static void sumFour(
      MemorySegment codes,
      long codesAt,
      int rows,
      byte[] tables,
      int tablesAt,
      int tableStride,
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
    int table1 = tablesAt + tableStride;
    int table2 = tablesAt + 2 * tableStride;
    int table3 = tablesAt + 3 * tableStride;
    for (int row = 0; row < rows; row++) {
      long c = codesAt + (long) row * TILE;
      int t = row * TABLE_ROW;
      ShortVector codes0 = ShortVector.fromMemorySegment(SHORTS, codes, c, ORDER);
      ByteVector x0 = codes0.reinterpretAsBytes();
      ShortVector codes1 = ShortVector.fromMemorySegment(SHORTS, codes, c + HALF_TILE, ORDER);
      ByteVector x1 = codes1.reinterpretAsBytes();
      ByteVector y0 = codes0.lanewise(LSHR, 4).reinterpretAsBytes();
      ByteVector y1 = codes1.lanewise(LSHR, 4).reinterpretAsBytes();
      ByteVector low0 = ByteVector.fromArray(BYTES, tables, tablesAt + t);
      ByteVector high0 = ByteVector.fromArray(BYTES, tables, tablesAt + SUMS + t);
      ShortVector sum00 =
          x0.selectFrom(low0).lanewise(ADD, y0.selectFrom(high0)).reinterpretAsShorts();
      both00 = sum00.lanewise(ADD, both00);
      odd00 = sum00.lanewise(LSHR, 8).lanewise(ADD, odd00);
      ShortVector sum01 =
          x1.selectFrom(low0).lanewise(ADD, y1.selectFrom(high0)).reinterpretAsShorts();
      both01 = sum01.lanewise(ADD, both01);
      odd01 = sum01.lanewise(LSHR, 8).lanewise(ADD, odd01);
      ByteVector low1 = ByteVector.fromArray(BYTES, tables, table1 + t);
      ByteVector high1 = ByteVector.fromArray(BYTES, tables, table1 + SUMS + t);
      ShortVector sum10 =
          x0.selectFrom(low1).lanewise(ADD, y0.selectFrom(high1)).reinterpretAsShorts();
      both10 = sum10.lanewise(ADD, both10);
      odd10 = sum10.lanewise(LSHR, 8).lanewise(ADD, odd10);
      ShortVector sum11 =
          x1.selectFrom(low1).lanewise(ADD, y1.selectFrom(high1)).reinterpretAsShorts();
      both11 = sum11.lanewise(ADD, both11);
      odd11 = sum11.lanewise(LSHR, 8).lanewise(ADD, odd11);
      ByteVector low2 = ByteVector.fromArray(BYTES, tables, table2 + t);
      ByteVector high2 = ByteVector.fromArray(BYTES, tables, table2 + SUMS + t);
      ShortVector sum20 =
          x0.selectFrom(low2).lanewise(ADD, y0.selectFrom(high2)).reinterpretAsShorts();
      both20 = sum20.lanewise(ADD, both20);
      odd20 = sum20.lanewise(LSHR, 8).lanewise(ADD, odd20);
      ShortVector sum21 =
          x1.selectFrom(low2).lanewise(ADD, y1.selectFrom(high2)).reinterpretAsShorts();
      both21 = sum21.lanewise(ADD, both21);
      odd21 = sum21.lanewise(LSHR, 8).lanewise(ADD, odd21);
      ByteVector low3 = ByteVector.fromArray(BYTES, tables, table3 + t);
      ByteVector high3 = ByteVector.fromArray(BYTES, tables, table3 + SUMS + t);
      ShortVector sum30 =
          x0.selectFrom(low3).lanewise(ADD, y0.selectFrom(high3)).reinterpretAsShorts();
      both30 = sum30.lanewise(ADD, both30);
      odd30 = sum30.lanewise(LSHR, 8).lanewise(ADD, odd30);
      ShortVector sum31 =
          x1.selectFrom(low3).lanewise(ADD, y1.selectFrom(high3)).reinterpretAsShorts();
      both31 = sum31.lanewise(ADD, both31);
      odd31 = sum31.lanewise(LSHR, 8).lanewise(ADD, odd31);
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
      int rows,
      byte[] tables,
      int tablesAt,
      int tableStride,
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
    int table1 = tablesAt + tableStride;
    for (int row = 0; row < rows; row++) {
      long c = codesAt + (long) row * TILE;
      int t = row * TABLE_ROW;
      ShortVector codes0 = ShortVector.fromMemorySegment(SHORTS, codes, c, ORDER);
      ByteVector x0 = codes0.reinterpretAsBytes();
      ShortVector codes1 = ShortVector.fromMemorySegment(SHORTS, codes, c + HALF_TILE, ORDER);
      ByteVector x1 = codes1.reinterpretAsBytes();
      ByteVector y0 = codes0.lanewise(LSHR, 4).reinterpretAsBytes();
      ByteVector y1 = codes1.lanewise(LSHR, 4).reinterpretAsBytes();
      ByteVector low0 = ByteVector.fromArray(BYTES, tables, tablesAt + t);
      ByteVector high0 = ByteVector.fromArray(BYTES, tables, tablesAt + SUMS + t);
      ShortVector sum00 =
          x0.selectFrom(low0).lanewise(ADD, y0.selectFrom(high0)).reinterpretAsShorts();
      both00 = sum00.lanewise(ADD, both00);
      odd00 = sum00.lanewise(LSHR, 8).lanewise(ADD, odd00);
      ShortVector sum01 =
          x1.selectFrom(low0).lanewise(ADD, y1.selectFrom(high0)).reinterpretAsShorts();
      both01 = sum01.lanewise(ADD, both01);
      odd01 = sum01.lanewise(LSHR, 8).lanewise(ADD, odd01);
      ByteVector low1 = ByteVector.fromArray(BYTES, tables, table1 + t);
      ByteVector high1 = ByteVector.fromArray(BYTES, tables, table1 + SUMS + t);
      ShortVector sum10 =
          x0.selectFrom(low1).lanewise(ADD, y0.selectFrom(high1)).reinterpretAsShorts();
      both10 = sum10.lanewise(ADD, both10);
      odd10 = sum10.lanewise(LSHR, 8).lanewise(ADD, odd10);
      ShortVector sum11 =
          x1.selectFrom(low1).lanewise(ADD, y1.selectFrom(high1)).reinterpretAsShorts();
      both11 = sum11.lanewise(ADD, both11);
      odd11 = sum11.lanewise(LSHR, 8).lanewise(ADD, odd11);
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
      int rows,
      byte[] tables,
      int tablesAt,
      short[] scratch,
      int to) {
    ShortVector both00 = ShortVector.zero(SHORTS);
    ShortVector odd00 = ShortVector.zero(SHORTS);
    ShortVector both01 = ShortVector.zero(SHORTS);
    ShortVector odd01 = ShortVector.zero(SHORTS);
    for (int row = 0; row < rows; row++) {
      long c = codesAt + (long) row * TILE;
      int t = row * TABLE_ROW;
      ShortVector codes0 = ShortVector.fromMemorySegment(SHORTS, codes, c, ORDER);
      ByteVector x0 = codes0.reinterpretAsBytes();
      ShortVector codes1 = ShortVector.fromMemorySegment(SHORTS, codes, c + HALF_TILE, ORDER);
      ByteVector x1 = codes1.reinterpretAsBytes();
      ByteVector y0 = codes0.lanewise(LSHR, 4).reinterpretAsBytes();
      ByteVector y1 = codes1.lanewise(LSHR, 4).reinterpretAsBytes();
      ByteVector low0 = ByteVector.fromArray(BYTES, tables, tablesAt + t);
      ByteVector high0 = ByteVector.fromArray(BYTES, tables, tablesAt + SUMS + t);
      ShortVector sum00 =
          x0.selectFrom(low0).lanewise(ADD, y0.selectFrom(high0)).reinterpretAsShorts();
      both00 = sum00.lanewise(ADD, both00);
      odd00 = sum00.lanewise(LSHR, 8).lanewise(ADD, odd00);
      ShortVector sum01 =
          x1.selectFrom(low0).lanewise(ADD, y1.selectFrom(high0)).reinterpretAsShorts();
      both01 = sum01.lanewise(ADD, both01);
      odd01 = sum01.lanewise(LSHR, 8).lanewise(ADD, odd01);
    }
    both00.intoArray(scratch, to);
    odd00.intoArray(scratch, to + 8);
    both01.intoArray(scratch, to + 16);
    odd01.intoArray(scratch, to + 24);
  }

  private static void sumHalf(
      MemorySegment codes,
      long codesAt,
      int rows,
      byte[] tables,
      int tablesAt,
      short[] scratch,
      int to) {
    ShortVector both00 = ShortVector.zero(SHORTS);
    ShortVector odd00 = ShortVector.zero(SHORTS);
    for (int row = 0; row < rows; row++) {
      long c = codesAt + (long) row * HALF_TILE;
      int t = row * TABLE_ROW;
      ShortVector codes0 = ShortVector.fromMemorySegment(SHORTS, codes, c, ORDER);
      ByteVector x0 = codes0.reinterpretAsBytes();
      ByteVector y0 = codes0.lanewise(LSHR, 4).reinterpretAsBytes();
      ByteVector low0 = ByteVector.fromArray(BYTES, tables, tablesAt + t);
      ByteVector high0 = ByteVector.fromArray(BYTES, tables, tablesAt + SUMS + t);
      ShortVector sum00 =
          x0.selectFrom(low0).lanewise(ADD, y0.selectFrom(high0)).reinterpretAsShorts();
      both00 = sum00.lanewise(ADD, both00);
      odd00 = sum00.lanewise(LSHR, 8).lanewise(ADD, odd00);
    }
    both00.intoArray(scratch, to);
    odd00.intoArray(scratch, to + 8);
  }
}
