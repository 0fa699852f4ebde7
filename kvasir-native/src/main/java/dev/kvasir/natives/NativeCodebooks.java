package dev.kvasir.natives;

import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.FixedRows;
import dev.kvasir.kernel.RotaryCodes;
import dev.kvasir.page.PageSize;
import dev.kvasir.page.StageCodes;
import java.lang.foreign.MemorySegment;

/** Sums of picked rows. A page's tokens may take several calls. */
final class NativeCodebooks implements CodebookKernels {
  /** Bytes of rows, which lie in a processor's second cache: some 40 microseconds of reading. */
  private static final Work ROW_BYTES = new Work(1 << 20);

  /** Floats that are read one after the other, some 40 microseconds of them. */
  private static final Work FLOATS = new Work(1 << 17);

  /** Weights that go into bins, some 40 microseconds of them. */
  private static final Work WEIGHTS = new Work(1 << 17);

  private static final Call UNPACK_STAGES =
      Calls.floats("unpack_stages", byte[].class, MemorySegment.class, long.class, int.class);
  private static final Call TURNED_SUMS =
      Calls.floats(
          "turned_sums",
          byte[].class,
          byte[].class,
          int.class,
          int.class,
          int.class,
          int.class,
          float[].class,
          float[].class,
          float[].class,
          float[].class,
          float[].class,
          float[].class,
          int.class);
  private static final Call TURNED_SCORES =
      Calls.floats(
          "turned_scores",
          byte[].class,
          byte[].class,
          int.class,
          int.class,
          int.class,
          int.class,
          float[].class,
          float[].class,
          float[].class,
          float[].class,
          float[].class,
          float[].class,
          int.class,
          float[].class,
          float[].class);
  private static final Call WEIGH_TOKENS =
      Calls.floats(
          "weigh_tokens",
          float[].class,
          int.class,
          float[].class,
          float[].class,
          int.class,
          float[].class,
          float[].class);
  private static final Call PICKED_SUMS =
      Calls.floats(
          "picked_sums",
          float[].class,
          int.class,
          byte[].class,
          int.class,
          int.class,
          int.class,
          int.class,
          float[].class);
  private static final Call ROW_PRODUCTS =
      Calls.floats(
          "row_products",
          float[].class,
          float[].class,
          int.class,
          int.class,
          int.class,
          float[].class);
  private static final Call COLLECT =
      Calls.floats(
          "collect",
          byte[].class,
          int.class,
          int.class,
          int.class,
          float[].class,
          int.class,
          float[].class);
  private static final Call LEAST_DISTANCES =
      Calls.floats(
          "least_distances", float[].class, int.class, float[].class, int.class, float[].class);

  @Override
  public void unpackStages(MemorySegment source, long offset, int stages, byte[] indices) {
    Bounds.check(source.byteSize(), offset, (long) stages * StageCodes.STAGE_BYTES);
    Bounds.check(indices.length, 0, stages, 2 * PageSize.TOKENS, 2 * PageSize.TOKENS);
    try {
      UNPACK_STAGES.handle.invokeExact(indices, source, offset, stages);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  private static void checkIndices(byte[] indices, int sets, int tokens) {
    Bounds.check(indices.length, 0, sets, PageSize.TOKENS, tokens);
  }

  private static void check(RotaryCodes codes, int from, int end) {
    FixedRows rows = codes.rows();
    int pairs = rows.pairs();
    int width = rows.width();
    Bounds.checkMultiple("pairs", pairs, 16);
    checkIndices(codes.indices(), rows.sets(), end);
    Bounds.check(rows.rows().length, 0, rows.sets() * FixedRows.ROWS, width, width);
    Bounds.check(rows.units().length, 0, pairs);
    Bounds.check(rows.mean().length, 0, width);
    Bounds.check(codes.scales().length, from, end - from);
    Bounds.check(codes.cosines().length, from * pairs, (end - from) * pairs);
    Bounds.check(codes.sines().length, from * pairs, (end - from) * pairs);
  }

  @Override
  public void turnedSums(RotaryCodes codes, int from, int end, short[] room, float[] out) {
    check(codes, from, end);
    FixedRows rows = codes.rows();
    int width = rows.width();
    Bounds.check(out.length, 0, end - from, width, width);
    int together = ROW_BYTES.together(end - from, (long) rows.sets() * width);
    for (int token = from; token < end; token += together) {
      try {
        TURNED_SUMS.handle.invokeExact(
            rows.rows(),
            codes.indices(),
            rows.sets(),
            rows.pairs(),
            token,
            Math.min(end, token + together),
            rows.units(),
            rows.mean(),
            codes.scales(),
            codes.cosines(),
            codes.sines(),
            out,
            (token - from) * width);
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  @Override
  public void turnedScores(
      RotaryCodes codes, float[] queries, int count, short[] sums, float[] keys, float[] scores) {
    int tokens = PageSize.TOKENS;
    check(codes, 0, tokens);
    FixedRows rows = codes.rows();
    int width = rows.width();
    Bounds.check(queries.length, 0, count, width, width);
    Bounds.check(keys.length, 0, CodebookKernels.scoringRoom(width));
    Bounds.check(scores.length, 0, count, tokens, tokens);
    // A product takes as long as a few bytes of rows.
    int together = ROW_BYTES.together(tokens, (rows.sets() + 4L * count) * width);
    for (int token = 0; token < tokens; token += together) {
      try {
        TURNED_SCORES.handle.invokeExact(
            rows.rows(),
            codes.indices(),
            rows.sets(),
            rows.pairs(),
            token,
            Math.min(tokens, token + together),
            rows.units(),
            rows.mean(),
            codes.scales(),
            codes.cosines(),
            codes.sines(),
            queries,
            count,
            keys,
            scores);
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  @Override
  public void weighTokens(
      float[] probabilities,
      int rows,
      float[] back,
      float[] scales,
      int lanes,
      float[] totals,
      float[] weights) {
    int tokens = PageSize.TOKENS;
    Bounds.check(probabilities.length, 0, rows, tokens, tokens);
    Bounds.check(back.length, 0, rows);
    Bounds.check(scales.length, 0, tokens);
    Bounds.check(totals.length, 0, rows);
    Bounds.check(lanes, 0, rows);
    Bounds.check(weights.length, 0, tokens, lanes, lanes);
    try {
      WEIGH_TOKENS.handle.invokeExact(probabilities, rows, back, scales, lanes, totals, weights);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
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
        PICKED_SUMS.handle.invokeExact(rows, at, indices, sets, token, end, width, sums);
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
        ROW_PRODUCTS.handle.invokeExact(a, b, row, end, width, out);
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
        COLLECT.handle.invokeExact(indices, sets, token, end, weights, lanes, bins);
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
      LEAST_DISTANCES.handle.invokeExact(squares, at, products, productsAt, out);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }
}
