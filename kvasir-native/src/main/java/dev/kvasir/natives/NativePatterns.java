package dev.kvasir.natives;

import dev.kvasir.kernel.Angles;
import dev.kvasir.kernel.FanAngles;
import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.kernel.RotaryPatterns;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.page.PageSize;
import java.lang.foreign.MemorySegment;

/** Rows that are picked, and vectors that turn. */
final class NativePatterns implements PatternKernels {
  /** Multiplications, some 40 microseconds of them. */
  private static final Work PRODUCTS = new Work(1 << 19);

  /** Values that turn, some 40 microseconds of them. */
  private static final Work TURNED = new Work(1 << 18);

  /** One for each value of a byte. */
  private static final int BINS = 256;

  private static final int PAGE = PageSize.TOKENS;

  private static final Call PICKED_PRODUCTS =
      Calls.floats(
          "picked_products",
          float[].class,
          int.class,
          float[].class,
          int[].class,
          int.class,
          int.class,
          int.class,
          float[].class,
          int.class,
          int.class);
  private static final Call TURN =
      Calls.floats(
          "turn",
          float[].class,
          int.class,
          int.class,
          int.class,
          float[].class,
          float[].class,
          int.class);

  private static final Call TURNING_PRODUCTS =
      Calls.floats(
          "turning_products",
          float[].class,
          int.class,
          float[].class,
          float[].class,
          int.class,
          float[].class,
          float[].class,
          MemorySegment.class,
          MemorySegment.class,
          MemorySegment.class,
          long.class);

  private static final Call SPANS =
      Calls.floats(
          "spans",
          float[].class,
          int.class,
          float[].class,
          int.class,
          int.class,
          int.class,
          float[].class,
          float[].class);
  private static final Call COLLECT =
      Calls.floats(
          "collect_rows",
          float[].class,
          int.class,
          float[].class,
          int.class,
          MemorySegment.class,
          long.class);

  @Override
  public void pickedProducts(
      float[] a, float[] b, int[] picked, int pickedAt, int pairs, RowBlock c) {
    int depth = 2 * pairs;
    int count = c.width();
    Bounds.checkMultiple("pairs", pairs, 16);
    Bounds.check(a.length, 0, c.rows(), depth, depth);
    Bounds.check(picked.length, pickedAt, count);
    Bounds.check(c);
    checkRows(b.length / depth, picked, pickedAt, count);
    int together = PRODUCTS.together(count, (long) c.rows() * depth);
    for (int j = 0; j < count; j += together) {
      try {
        PICKED_PRODUCTS.handle.invokeExact(
            a,
            c.rows(),
            b,
            picked,
            pickedAt + j,
            Math.min(together, count - j),
            pairs,
            c.values(),
            c.at() + j,
            c.stride());
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  /** Refuses numbers of rows that are not there. */
  private static void checkRows(int there, int[] picked, int at, int count) {
    int least = 0;
    int most = -1;
    for (int j = at; j < at + count; j++) {
      least = Math.min(least, picked[j]);
      most = Math.max(most, picked[j]);
    }
    if (least < 0 || most >= there) {
      throw new IndexOutOfBoundsException(
          "row %d of %d".formatted(least < 0 ? least : most, there));
    }
  }

  @Override
  public void turn(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt) {
    Bounds.checkMultiple("pairs", pairs, 16);
    Bounds.check(vectors.length, at, count, 2 * pairs, 2 * pairs);
    Bounds.check(cosines.length, anglesAt, pairs);
    Bounds.check(sines.length, anglesAt, pairs);
    int together = TURNED.together(count, 2L * pairs);
    for (int row = 0; row < count; row += together) {
      int some = Math.min(together, count - row);
      try {
        TURN.handle.invokeExact(
            vectors, at + row * 2 * pairs, some, pairs, cosines, sines, anglesAt);
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  @Override
  public void turningProducts(
      float[] a,
      int aRows,
      Angles page,
      RotaryPatterns b,
      MemorySegment indices,
      long indicesAt,
      float[] scores) {
    int pairs = b.pairs();
    int depth = b.width();
    if (PRODUCTS.together(PAGE, (long) aRows * depth) < PAGE) {
      PatternKernels.super.turningProducts(a, aRows, page, b, indices, indicesAt, scores);
      return;
    }
    Bounds.checkMultiple("pairs", pairs, 16);
    Bounds.check(a.length, aRows * depth);
    Bounds.check(page.cosines().length, pairs);
    Bounds.check(page.sines().length, pairs);
    Bounds.check(b.fan().lines().byteSize(), 0, (FAN + 1L) * depth * Float.BYTES);
    Bounds.check(b.room().length, aRows * depth + FanAngles.LINE / Float.BYTES);
    Bounds.check(scores.length, aRows * PAGE);
    Bounds.check(b.rows().byteSize(), 0, (long) BINS * depth * Float.BYTES);
    Bounds.check(indices.byteSize(), indicesAt, PAGE);
    try {
      TURNING_PRODUCTS.handle.invokeExact(
          a,
          aRows,
          page.cosines(),
          page.sines(),
          pairs,
          b.room(),
          scores,
          b.fan().lines(),
          b.rows(),
          indices,
          indicesAt);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void spans(float[] x, int at, RowBlock b, float[] least, float[] most) {
    b.requirePacked();
    Bounds.check(x.length, at, b.width());
    Bounds.check(b);
    Bounds.check(least.length, 0, b.rows());
    Bounds.check(most.length, 0, b.rows());
    try {
      SPANS.handle.invokeExact(x, at, b.values(), b.at(), b.rows(), b.width(), least, most);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void collect(
      float[] weights, int rows, float[] bins, int stride, MemorySegment indices, long indicesAt) {
    Bounds.check(weights.length, 0, rows, PAGE, PAGE);
    Bounds.check(bins.length, 0, BINS, stride, rows);
    Bounds.check(indices.byteSize(), indicesAt, PAGE);
    try {
      COLLECT.handle.invokeExact(weights, rows, bins, stride, indices, indicesAt);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }
}
