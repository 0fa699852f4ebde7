package dev.kvasir.simd;

import static jdk.incubator.vector.VectorOperators.AND;
import static jdk.incubator.vector.VectorOperators.ASHR;
import static jdk.incubator.vector.VectorOperators.FMA;
import static jdk.incubator.vector.VectorOperators.LSHL;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.HalfQueries;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/**
 * Dot products of floats with rows of 16-bit floats, which become floats in registers: a 32-bit
 * lane holds an even channel below an odd one, and masks and shifts take them apart. So queries are
 * laid out even channels first, a vector of each in turn:
 *
 * <pre>
 * block of 2 * LANES channels | query 0: even channels, odd channels | query 1: ... | query 3
 * </pre>
 *
 * A tile of four queries by two rows reads every key once for four query heads. Fewer queries than
 * four are filled up with zeros, except a single one.
 */
final class HalfProducts {
  private static final VectorSpecies<Float> FLOATS = FloatVector.SPECIES_PREFERRED;
  private static final VectorSpecies<Integer> INTS = IntVector.SPECIES_PREFERRED;
  private static final ByteOrder ORDER = ByteOrder.LITTLE_ENDIAN;
  private static final int LANES = FLOATS.length();
  private static final IntVector HALF_BITS = IntVector.broadcast(INTS, HalfFloats.HALF_BITS);
  private static final IntVector UPPER_HALF = IntVector.broadcast(INTS, HalfFloats.UPPER_HALF);
  private static final int TILE = 4;

  /** Floats that a tile leaves. // (queries, rows, LANES) */
  private static final int TILE_SUMS = TILE * TILE * LANES;

  /**
   * The sums of all tiles of a block of rows, added up when all are there: a float just written as
   * part of a vector is slow to be read alone. // (tiles, queries, rows, LANES)
   */
  private static final ThreadLocal<float[]> SUMS = ThreadLocal.withInitial(() -> new float[0]);

  private HalfProducts() {}

  /**
   * A kernel that leaves the sums of two rows; with four it would be more than the compiler takes
   * in at once. Kernels are reached through this interface for the same reason: those that are
   * called by name may be taken in together.
   */
  private interface RowPair {
    void multiply(
        MemorySegment rows,
        long at0,
        long at1,
        int depth,
        float[] queries,
        int at,
        float[] sums,
        int to);
  }

  private static RowPair rowPair(Precision precision, int queries) {
    if (precision == Precision.F16) {
      return queries == 1 ? HalfProducts::oneHalfRows : HalfProducts::fourHalfRows;
    }
    return queries == 1 ? HalfProducts::oneBrainHalfRows : HalfProducts::fourBrainHalfRows;
  }

  /** Rows of a tile that begins with row {@code first}: four, or one if it is the last. */
  private static int tileRows(int first, int rows) {
    return rows - first == 1 ? 1 : TILE;
  }

  /**
   * What is stored is 2^-112 of a half's value, and products are exact however that is made up:
   * here by the queries.
   */
  static void arrange(HalfQueries queries, Precision precision) {
    float lift = HalfFloats.lift(precision);
    for (int first = 0; first < queries.count(); first += TILE) {
      arrangeTile(queries, first, tileRows(first, queries.count()), lift);
    }
  }

  private static void arrangeTile(HalfQueries queries, int first, int tileRows, float lift) {
    int columns = queries.columns();
    int to = first * columns;
    for (int c = 0; c <= columns - 2 * LANES; c += 2 * LANES) {
      for (int row = first; row < first + tileRows; row++) {
        boolean given = row < queries.count();
        for (int i = 0; i < LANES; i++) {
          int from = row * columns + c + 2 * i;
          queries.arranged()[to + i] = given ? queries.rows()[from] * lift : 0;
          queries.arranged()[to + LANES + i] = given ? queries.rows()[from + 1] * lift : 0;
        }
        to += 2 * LANES;
      }
    }
  }

  static void products(
      HalfQueries queries,
      DenseMatrix b,
      int firstRow,
      int bRows,
      float[] c,
      int cAt,
      int cStride) {
    queries.requireColumns(b);
    float[] sums = scratch(Math.ceilDiv(bRows, TILE) * TILE_SUMS);
    for (int i = 0; i < queries.count(); i += TILE) {
      int count = Math.min(tileRows(i, queries.count()), queries.count() - i);
      RowPair kernel = rowPair(b.precision(), count);
      for (int j = 0; j < bRows; j += TILE) {
        int rows = Math.min(TILE, bRows - j);
        int to = j / TILE * TILE_SUMS;
        tile(kernel, b, firstRow + j, rows, queries.arranged(), i * b.columns(), sums, to);
      }
      for (int row = 0; row < count; row++) {
        int at = cAt + (i + row) * cStride;
        finish(sums, row, bRows, c, at);
        if (b.columns() % (2 * LANES) != 0) {
          addRest(queries, i + row, b, firstRow, bRows, c, at);
        }
      }
    }
  }

  private static float[] scratch(int size) {
    float[] sums = SUMS.get();
    if (sums.length < size) {
      sums = new float[size];
      SUMS.set(sums);
    }
    return sums;
  }

  /** Rows beyond the last are the last again: their sums are not looked at. */
  private static void tile(
      RowPair kernel,
      DenseMatrix b,
      int row,
      int rows,
      float[] queries,
      int at,
      float[] sums,
      int to) {
    int last = row + rows - 1;
    for (int r = 0; r < rows; r += 2) {
      long at0 = b.offset(row + r);
      long at1 = b.offset(Math.min(row + r + 1, last));
      kernel.multiply(b.data(), at0, at1, b.columns(), queries, at, sums, to + r * LANES);
    }
  }

  private static void fourHalfRows(
      MemorySegment rows,
      long at0,
      long at1,
      int depth,
      float[] queries,
      int at,
      float[] sums,
      int to) {
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = s00;
    FloatVector s10 = s00;
    FloatVector s11 = s00;
    FloatVector s20 = s00;
    FloatVector s21 = s00;
    FloatVector s30 = s00;
    FloatVector s31 = s00;
    for (int c = 0; c <= depth - 2 * LANES; c += 2 * LANES) {
      IntVector x0 = IntVector.fromMemorySegment(INTS, rows, at0 + 2L * c, ORDER);
      FloatVector even0 =
          x0.lanewise(LSHL, 16).lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      FloatVector odd0 = x0.lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      IntVector x1 = IntVector.fromMemorySegment(INTS, rows, at1 + 2L * c, ORDER);
      FloatVector even1 =
          x1.lanewise(LSHL, 16).lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      FloatVector odd1 = x1.lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      FloatVector q = FloatVector.fromArray(FLOATS, queries, at + 4 * c);
      s00 = even0.lanewise(FMA, q, s00);
      s01 = even1.lanewise(FMA, q, s01);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + LANES);
      s00 = odd0.lanewise(FMA, q, s00);
      s01 = odd1.lanewise(FMA, q, s01);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + 2 * LANES);
      s10 = even0.lanewise(FMA, q, s10);
      s11 = even1.lanewise(FMA, q, s11);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + 3 * LANES);
      s10 = odd0.lanewise(FMA, q, s10);
      s11 = odd1.lanewise(FMA, q, s11);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + 4 * LANES);
      s20 = even0.lanewise(FMA, q, s20);
      s21 = even1.lanewise(FMA, q, s21);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + 5 * LANES);
      s20 = odd0.lanewise(FMA, q, s20);
      s21 = odd1.lanewise(FMA, q, s21);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + 6 * LANES);
      s30 = even0.lanewise(FMA, q, s30);
      s31 = even1.lanewise(FMA, q, s31);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + 7 * LANES);
      s30 = odd0.lanewise(FMA, q, s30);
      s31 = odd1.lanewise(FMA, q, s31);
    }
    s00.intoArray(sums, to);
    s01.intoArray(sums, to + LANES);
    s10.intoArray(sums, to + 4 * LANES);
    s11.intoArray(sums, to + 5 * LANES);
    s20.intoArray(sums, to + 8 * LANES);
    s21.intoArray(sums, to + 9 * LANES);
    s30.intoArray(sums, to + 12 * LANES);
    s31.intoArray(sums, to + 13 * LANES);
  }

  private static void oneHalfRows(
      MemorySegment rows,
      long at0,
      long at1,
      int depth,
      float[] queries,
      int at,
      float[] sums,
      int to) {
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = s00;
    for (int c = 0; c <= depth - 2 * LANES; c += 2 * LANES) {
      IntVector x0 = IntVector.fromMemorySegment(INTS, rows, at0 + 2L * c, ORDER);
      FloatVector even0 =
          x0.lanewise(LSHL, 16).lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      FloatVector odd0 = x0.lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      IntVector x1 = IntVector.fromMemorySegment(INTS, rows, at1 + 2L * c, ORDER);
      FloatVector even1 =
          x1.lanewise(LSHL, 16).lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      FloatVector odd1 = x1.lanewise(ASHR, 3).lanewise(AND, HALF_BITS).reinterpretAsFloats();
      FloatVector q = FloatVector.fromArray(FLOATS, queries, at + c);
      s00 = even0.lanewise(FMA, q, s00);
      s01 = even1.lanewise(FMA, q, s01);
      q = FloatVector.fromArray(FLOATS, queries, at + c + LANES);
      s00 = odd0.lanewise(FMA, q, s00);
      s01 = odd1.lanewise(FMA, q, s01);
    }
    s00.intoArray(sums, to);
    s01.intoArray(sums, to + LANES);
  }

  private static void fourBrainHalfRows(
      MemorySegment rows,
      long at0,
      long at1,
      int depth,
      float[] queries,
      int at,
      float[] sums,
      int to) {
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = s00;
    FloatVector s10 = s00;
    FloatVector s11 = s00;
    FloatVector s20 = s00;
    FloatVector s21 = s00;
    FloatVector s30 = s00;
    FloatVector s31 = s00;
    for (int c = 0; c <= depth - 2 * LANES; c += 2 * LANES) {
      IntVector x0 = IntVector.fromMemorySegment(INTS, rows, at0 + 2L * c, ORDER);
      FloatVector even0 = x0.lanewise(LSHL, 16).reinterpretAsFloats();
      FloatVector odd0 = x0.lanewise(AND, UPPER_HALF).reinterpretAsFloats();
      IntVector x1 = IntVector.fromMemorySegment(INTS, rows, at1 + 2L * c, ORDER);
      FloatVector even1 = x1.lanewise(LSHL, 16).reinterpretAsFloats();
      FloatVector odd1 = x1.lanewise(AND, UPPER_HALF).reinterpretAsFloats();
      FloatVector q = FloatVector.fromArray(FLOATS, queries, at + 4 * c);
      s00 = even0.lanewise(FMA, q, s00);
      s01 = even1.lanewise(FMA, q, s01);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + LANES);
      s00 = odd0.lanewise(FMA, q, s00);
      s01 = odd1.lanewise(FMA, q, s01);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + 2 * LANES);
      s10 = even0.lanewise(FMA, q, s10);
      s11 = even1.lanewise(FMA, q, s11);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + 3 * LANES);
      s10 = odd0.lanewise(FMA, q, s10);
      s11 = odd1.lanewise(FMA, q, s11);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + 4 * LANES);
      s20 = even0.lanewise(FMA, q, s20);
      s21 = even1.lanewise(FMA, q, s21);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + 5 * LANES);
      s20 = odd0.lanewise(FMA, q, s20);
      s21 = odd1.lanewise(FMA, q, s21);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + 6 * LANES);
      s30 = even0.lanewise(FMA, q, s30);
      s31 = even1.lanewise(FMA, q, s31);
      q = FloatVector.fromArray(FLOATS, queries, at + 4 * c + 7 * LANES);
      s30 = odd0.lanewise(FMA, q, s30);
      s31 = odd1.lanewise(FMA, q, s31);
    }
    s00.intoArray(sums, to);
    s01.intoArray(sums, to + LANES);
    s10.intoArray(sums, to + 4 * LANES);
    s11.intoArray(sums, to + 5 * LANES);
    s20.intoArray(sums, to + 8 * LANES);
    s21.intoArray(sums, to + 9 * LANES);
    s30.intoArray(sums, to + 12 * LANES);
    s31.intoArray(sums, to + 13 * LANES);
  }

  private static void oneBrainHalfRows(
      MemorySegment rows,
      long at0,
      long at1,
      int depth,
      float[] queries,
      int at,
      float[] sums,
      int to) {
    FloatVector s00 = FloatVector.zero(FLOATS);
    FloatVector s01 = s00;
    for (int c = 0; c <= depth - 2 * LANES; c += 2 * LANES) {
      IntVector x0 = IntVector.fromMemorySegment(INTS, rows, at0 + 2L * c, ORDER);
      FloatVector even0 = x0.lanewise(LSHL, 16).reinterpretAsFloats();
      FloatVector odd0 = x0.lanewise(AND, UPPER_HALF).reinterpretAsFloats();
      IntVector x1 = IntVector.fromMemorySegment(INTS, rows, at1 + 2L * c, ORDER);
      FloatVector even1 = x1.lanewise(LSHL, 16).reinterpretAsFloats();
      FloatVector odd1 = x1.lanewise(AND, UPPER_HALF).reinterpretAsFloats();
      FloatVector q = FloatVector.fromArray(FLOATS, queries, at + c);
      s00 = even0.lanewise(FMA, q, s00);
      s01 = even1.lanewise(FMA, q, s01);
      q = FloatVector.fromArray(FLOATS, queries, at + c + LANES);
      s00 = odd0.lanewise(FMA, q, s00);
      s01 = odd1.lanewise(FMA, q, s01);
    }
    s00.intoArray(sums, to);
    s01.intoArray(sums, to + LANES);
  }

  /** Adds up the lanes of one query. */
  private static void finish(float[] sums, int query, int rows, float[] c, int at) {
    int whole = rows - rows % TILE;
    for (int j = 0; j < whole; j += TILE) {
      LaneSums.sumFour(sums, (j + query) * TILE, c, at + j);
    }
    for (int j = whole; j < rows; j++) {
      c[at + j] = LaneSums.sum(sums, (whole + query) * TILE + j - whole);
    }
  }

  /** Adds what does not fill two vectors. */
  private static void addRest(
      HalfQueries queries, int query, DenseMatrix b, int firstRow, int rows, float[] c, int at) {
    int columns = b.columns();
    for (int j = 0; j < rows; j++) {
      float sum = c[at + j];
      for (int k = columns - columns % (2 * LANES); k < columns; k++) {
        sum = Math.fma(queries.rows()[query * columns + k], b.value(firstRow + j, k), sum);
      }
      c[at + j] = sum;
    }
  }
}
