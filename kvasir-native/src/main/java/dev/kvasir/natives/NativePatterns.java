package dev.kvasir.natives;

import dev.kvasir.kernel.Angles;
import dev.kvasir.kernel.FanAngles;
import dev.kvasir.kernel.PatternKernels;
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
      float[] a,
      int aRows,
      float[] b,
      int[] picked,
      int pickedAt,
      int count,
      int pairs,
      float[] c,
      int cAt,
      int cStride) {
    int depth = 2 * pairs;
    Bounds.checkMultiple("pairs", pairs, 16);
    Bounds.check(a.length, 0, aRows, depth, depth);
    Bounds.check(picked.length, pickedAt, count);
    Bounds.check(c.length, cAt, aRows, cStride, count);
    checkRows(b.length / depth, picked, pickedAt, count);
    int together = PRODUCTS.together(count, (long) aRows * depth);
    for (int j = 0; j < count; j += together) {
      int some = Math.min(together, count - j);
      try {
        PICKED_PRODUCTS.handle.invokeExact(
            a, aRows, b, picked, pickedAt + j, some, pairs, c, cAt + j, cStride);
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
      int pairs,
      FanAngles fan,
      float[] room,
      float[] scores,
      MemorySegment b,
      MemorySegment indices,
      long indicesAt) {
    int depth = 2 * pairs;
    if (PRODUCTS.together(PAGE, (long) aRows * depth) < PAGE) {
      PatternKernels.super.turningProducts(
          a, aRows, page, pairs, fan, room, scores, b, indices, indicesAt);
      return;
    }
    Bounds.checkMultiple("pairs", pairs, 16);
    Bounds.check(a.length, aRows * depth);
    Bounds.check(page.cosines().length, pairs);
    Bounds.check(page.sines().length, pairs);
    Bounds.check(fan.lines().byteSize(), 0, (FAN + 1L) * depth * Float.BYTES);
    Bounds.check(room.length, aRows * depth + FanAngles.LINE / Float.BYTES);
    Bounds.check(scores.length, aRows * PAGE);
    Bounds.check(b.byteSize(), 0, (long) BINS * depth * Float.BYTES);
    Bounds.check(indices.byteSize(), indicesAt, PAGE);
    try {
      TURNING_PRODUCTS.handle.invokeExact(
          a,
          aRows,
          page.cosines(),
          page.sines(),
          pairs,
          room,
          scores,
          fan.lines(),
          b,
          indices,
          indicesAt);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void spans(
      float[] x, int at, float[] b, int bAt, int count, int depth, float[] least, float[] most) {
    Bounds.check(x.length, at, depth);
    Bounds.check(b.length, bAt, count, depth, depth);
    Bounds.check(least.length, 0, count);
    Bounds.check(most.length, 0, count);
    try {
      SPANS.handle.invokeExact(x, at, b, bAt, count, depth, least, most);
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
