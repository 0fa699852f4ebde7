package dev.kvasir.natives;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.page.PageSize;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** Rows that are picked, and vectors that turn. */
final class NativePatterns implements PatternKernels {
  /** Multiplications, some 40 microseconds of them. */
  private static final Work PRODUCTS = new Work(1 << 19);

  /** Values that turn, some 40 microseconds of them. */
  private static final Work TURNED = new Work(1 << 18);

  /** One for each value of a byte. */
  private static final int BINS = 256;

  private static final MethodHandle PICKED_PRODUCTS =
      Calls.floats(
          "picked_products",
          ADDRESS,
          JAVA_INT,
          ADDRESS,
          ADDRESS,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          ADDRESS,
          JAVA_INT,
          JAVA_INT);
  private static final MethodHandle TURN =
      Calls.floats("turn", ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS, JAVA_INT);

  private static final MethodHandle TURNING_PRODUCTS =
      Calls.floats(
          "turning_products",
          ADDRESS,
          JAVA_INT,
          ADDRESS,
          ADDRESS,
          JAVA_INT,
          JAVA_INT,
          JAVA_INT,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          ADDRESS,
          JAVA_INT);

  private static final MethodHandle SPANS =
      Calls.floats(
          "spans", ADDRESS, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
  private static final MethodHandle COLLECT =
      Calls.floats("collect_rows", ADDRESS, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT);

  @Override
  public void pickedProducts(
      float[] a,
      int aRows,
      float[] b,
      int[] picked,
      int pickedAt,
      int count,
      int depth,
      float[] c,
      int cAt,
      int cStride) {
    Bounds.check(a.length, 0, aRows, depth, depth);
    Bounds.check(picked.length, pickedAt, count);
    Bounds.check(c.length, cAt, aRows, cStride, count);
    checkRows(b.length / depth, picked, pickedAt, count);
    int together = PRODUCTS.together(count, (long) aRows * depth);
    for (int j = 0; j < count; j += together) {
      int some = Math.min(together, count - j);
      try {
        PICKED_PRODUCTS.invokeExact(
            MemorySegment.ofArray(a),
            aRows,
            MemorySegment.ofArray(b),
            MemorySegment.ofArray(picked),
            pickedAt + j,
            some,
            depth,
            MemorySegment.ofArray(c),
            cAt + j,
            cStride);
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
        TURN.invokeExact(
            MemorySegment.ofArray(vectors),
            at + row * 2 * pairs,
            some,
            pairs,
            MemorySegment.ofArray(cosines),
            MemorySegment.ofArray(sines),
            anglesAt);
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  @Override
  public void turningProducts(
      float[] a,
      int aRows,
      float[] b,
      int[] picked,
      int count,
      int fan,
      int pairs,
      float[] cosines,
      float[] sines,
      float[] backSines,
      float[] room,
      float[] c,
      int cStride) {
    int depth = 2 * pairs;
    if (PRODUCTS.together(count, (long) aRows * depth) < count) {
      PatternKernels.super.turningProducts(
          a, aRows, b, picked, count, fan, pairs, cosines, sines, backSines, room, c, cStride);
      return;
    }
    Bounds.checkMultiple("pairs", pairs, 16);
    Bounds.check(a.length, 0, aRows, depth, depth);
    Bounds.check(picked.length, 0, count);
    Bounds.check(cosines.length, 0, (fan + 1) * pairs);
    Bounds.check(sines.length, 0, (fan + 1) * pairs);
    Bounds.check(backSines.length, 0, (fan + 1) * pairs);
    Bounds.check(room.length, 0, PatternKernels.turningRoom(fan, pairs));
    Bounds.check(c.length, 0, aRows, cStride, count);
    checkRows(b.length / depth, picked, 0, count);
    try {
      TURNING_PRODUCTS.invokeExact(
          MemorySegment.ofArray(a),
          aRows,
          MemorySegment.ofArray(b),
          MemorySegment.ofArray(picked),
          count,
          fan,
          pairs,
          MemorySegment.ofArray(cosines),
          MemorySegment.ofArray(sines),
          MemorySegment.ofArray(backSines),
          MemorySegment.ofArray(room),
          MemorySegment.ofArray(c),
          cStride);
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
      SPANS.invokeExact(
          MemorySegment.ofArray(x),
          at,
          MemorySegment.ofArray(b),
          bAt,
          count,
          depth,
          MemorySegment.ofArray(least),
          MemorySegment.ofArray(most));
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void collect(byte[] indices, float[] weights, int rows, float[] bins, int stride) {
    Bounds.check(indices.length, 0, PageSize.TOKENS);
    Bounds.check(weights.length, 0, rows, PageSize.TOKENS, PageSize.TOKENS);
    Bounds.check(bins.length, 0, BINS, stride, rows);
    try {
      COLLECT.invokeExact(
          MemorySegment.ofArray(indices),
          MemorySegment.ofArray(weights),
          rows,
          MemorySegment.ofArray(bins),
          stride);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }
}
