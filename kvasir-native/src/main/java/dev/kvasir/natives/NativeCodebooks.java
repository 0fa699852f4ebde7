package dev.kvasir.natives;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.FixedRows;
import dev.kvasir.page.PageSize;
import dev.kvasir.page.StageCodes;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Sums of picked rows. A page's tokens may take several calls. */
final class NativeCodebooks implements CodebookKernels {
  /** Bytes of rows, which lie in a processor's second cache: some 40 microseconds of reading. */
  private static final Work ROW_BYTES = new Work(1 << 20);

  /** Floats that are read one after the other, some 40 microseconds of them. */
  private static final Work FLOATS = new Work(1 << 17);

  /** Weights that go into bins, some 40 microseconds of them. */
  private static final Work WEIGHTS = new Work(1 << 17);

  private static final MethodHandle UNPACK_STAGES =
      Calls.floats("unpack_stages", ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS);
  private static final MethodHandle TURNED_SUMS =
      Calls.floats(
          "turned_sums",
          ADDRESS,
          ADDRESS,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          JAVA_INT);
  private static final MethodHandle PICKED_SUMS =
      Calls.floats(
          "picked_sums",
          ADDRESS,
          JAVA_INT,
          ADDRESS,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          ADDRESS);
  private static final MethodHandle ROW_PRODUCTS =
      Calls.floats("row_products", ADDRESS, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS);
  private static final MethodHandle COLLECT =
      Calls.floats("collect", ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS);
  private static final MethodHandle LEAST_DISTANCES =
      Calls.floats("least_distances", ADDRESS, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS);

  @Override
  public void unpackStages(MemorySegment source, long offset, int stages, byte[] indices) {
    Bounds.check(source.byteSize(), offset, (long) stages * StageCodes.STAGE_BYTES);
    Bounds.check(indices.length, 0, stages, 2 * PageSize.TOKENS, 2 * PageSize.TOKENS);
    try {
      UNPACK_STAGES.invokeExact(source, offset, stages, MemorySegment.ofArray(indices));
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  private static void checkIndices(byte[] indices, int sets, int tokens) {
    Bounds.check(indices.length, 0, sets, PageSize.TOKENS, tokens);
  }

  @Override
  public void turnedSums(
      FixedRows rows,
      byte[] indices,
      int from,
      int end,
      float[] scales,
      float[] cosines,
      float[] sines,
      short[] room,
      float[] out) {
    int pairs = rows.pairs();
    int width = rows.width();
    Bounds.checkMultiple("pairs", pairs, 16);
    checkIndices(indices, rows.sets(), end);
    Bounds.check(rows.rows().length, 0, rows.sets() * FixedRows.ROWS, width, width);
    Bounds.check(rows.units().length, 0, pairs);
    Bounds.check(rows.mean().length, 0, width);
    Bounds.check(scales.length, from, end - from);
    Bounds.check(cosines.length, from * pairs, (end - from) * pairs);
    Bounds.check(sines.length, from * pairs, (end - from) * pairs);
    Bounds.check(out.length, 0, end - from, width, width);
    int together = ROW_BYTES.together(end - from, (long) rows.sets() * width);
    for (int token = from; token < end; token += together) {
      int some = Math.min(end, token + together);
      try {
        TURNED_SUMS.invokeExact(
            MemorySegment.ofArray(rows.rows()),
            MemorySegment.ofArray(indices),
            rows.sets(),
            pairs,
            token,
            some,
            MemorySegment.ofArray(rows.units()),
            MemorySegment.ofArray(rows.mean()),
            MemorySegment.ofArray(scales),
            MemorySegment.ofArray(cosines),
            MemorySegment.ofArray(sines),
            MemorySegment.ofArray(out),
            (token - from) * width);
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  @Override
  public void pickedSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums) {
    checkIndices(indices, sets, tokens);
    Bounds.check(rows.length, at, sets * FixedRows.ROWS, width, width);
    Bounds.check(sums.length, 0, tokens, width, width);
    int together = ROW_BYTES.together(tokens, (long) Float.BYTES * sets * width);
    for (int token = 0; token < tokens; token += together) {
      int end = Math.min(tokens, token + together);
      try {
        PICKED_SUMS.invokeExact(
            MemorySegment.ofArray(rows),
            at,
            MemorySegment.ofArray(indices),
            sets,
            token,
            end,
            width,
            MemorySegment.ofArray(sums));
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  @Override
  public void rowProducts(float[] a, float[] b, int count, int width, float[] out) {
    Bounds.check(a.length, 0, count, width, width);
    Bounds.check(b.length, 0, count, width, width);
    Bounds.check(out.length, 0, count);
    int together = FLOATS.together(count, width);
    for (int row = 0; row < count; row += together) {
      int end = Math.min(count, row + together);
      try {
        ROW_PRODUCTS.invokeExact(
            MemorySegment.ofArray(a),
            MemorySegment.ofArray(b),
            row,
            end,
            width,
            MemorySegment.ofArray(out));
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  @Override
  public void collect(
      byte[] indices, int sets, int tokens, float[] weights, int lanes, float[] bins) {
    Bounds.checkMultiple("lanes", lanes, 4);
    checkIndices(indices, sets, tokens);
    Bounds.check(weights.length, 0, tokens, lanes, lanes);
    Bounds.check(bins.length, 0, sets * FixedRows.ROWS, lanes, lanes);
    int together = WEIGHTS.together(tokens, (long) sets * lanes);
    for (int token = 0; token < tokens; token += together) {
      int end = Math.min(tokens, token + together);
      try {
        COLLECT.invokeExact(
            MemorySegment.ofArray(indices),
            sets,
            token,
            end,
            MemorySegment.ofArray(weights),
            lanes,
            MemorySegment.ofArray(bins));
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  @Override
  public void leastDistances(
      float[] squares, int at, float[] products, int productsAt, float[] out) {
    Bounds.check(squares.length, at, FixedRows.ROWS * FixedRows.ROWS);
    Bounds.check(products.length, productsAt, FixedRows.ROWS);
    Bounds.check(out.length, 0, FixedRows.ROWS);
    try {
      LEAST_DISTANCES.invokeExact(
          MemorySegment.ofArray(squares),
          at,
          MemorySegment.ofArray(products),
          productsAt,
          MemorySegment.ofArray(out));
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }
}
