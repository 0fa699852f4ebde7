package dev.kvasir.natives;

import dev.kvasir.kernel.OffsetAngles;
import dev.kvasir.kernel.PatternKernels;
import dev.kvasir.kernel.RopeAngles;
import dev.kvasir.kernel.RotaryPatterns;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.page.PageSize;
import java.lang.foreign.MemorySegment;

/** Native products with rows selected by index, and rotation of vectors. */
final class NativePatterns implements PatternKernels {
  /** Multiplications per call, about 40 microseconds of work. */
  private static final CallBudget PRODUCTS = new CallBudget(1 << 19);

  /** Values rotated per call, about 40 microseconds of work. */
  private static final CallBudget ROTATED_VALUES = new CallBudget(1 << 18);

  /** One for each value of a byte. */
  private static final int BINS = 256;

  private static final int PAGE = PageSize.TOKENS;

  private static final NativeFunction GATHERED_PRODUCTS =
      NativeFunctions.floatFunction("picked_products", "[FI [F [IIII [FII");
  private static final NativeFunction ROTATE =
      NativeFunctions.floatFunction("turn", "[FIII [F [FI");

  private static final NativeFunction ROTATED_PRODUCTS =
      NativeFunctions.floatFunction("turning_products", "[FI [F [FI [F [F MMMJ");

  private static final NativeFunction RESIDUAL_RANGES =
      NativeFunctions.floatFunction("spans", "[FI [FIII [F [F");
  private static final NativeFunction SCATTER_ADD =
      NativeFunctions.floatFunction("collect_rows", "[FI [FI MJ");

  @Override
  public void gatheredProducts(
      float[] a, float[] b, int[] rowIndices, int indicesAt, int pairs, RowBlock c) {
    int depth = 2 * pairs;
    int count = c.width();
    Bounds.checkMultiple("pairs", pairs, 16);
    Bounds.check(a.length, 0, c.rows(), depth, depth);
    Bounds.check(rowIndices.length, indicesAt, count);
    Bounds.check(c);
    checkRows(b.length / depth, rowIndices, indicesAt, count);
    int perCall = PRODUCTS.itemsPerCall(count, (long) c.rows() * depth);
    for (int j = 0; j < count; j += perCall) {
      try {
        GATHERED_PRODUCTS.handle.invokeExact(
            a,
            c.rows(),
            b,
            rowIndices,
            indicesAt + j,
            Math.min(perCall, count - j),
            pairs,
            c.values(),
            c.at() + j,
            c.stride());
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }

  /** Throws if an index is not a row. */
  private static void checkRows(int rows, int[] rowIndices, int at, int count) {
    int lowest = 0;
    int highest = -1;
    for (int j = at; j < at + count; j++) {
      lowest = Math.min(lowest, rowIndices[j]);
      highest = Math.max(highest, rowIndices[j]);
    }
    if (lowest < 0 || highest >= rows) {
      throw new IndexOutOfBoundsException(
          "row %d of %d".formatted(lowest < 0 ? lowest : highest, rows));
    }
  }

  @Override
  public void rotate(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt) {
    Bounds.checkMultiple("pairs", pairs, 16);
    Bounds.check(vectors.length, at, count, 2 * pairs, 2 * pairs);
    Bounds.check(cosines.length, anglesAt, pairs);
    Bounds.check(sines.length, anglesAt, pairs);
    int perCall = ROTATED_VALUES.itemsPerCall(count, 2L * pairs);
    for (int row = 0; row < count; row += perCall) {
      int some = Math.min(perCall, count - row);
      try {
        ROTATE.handle.invokeExact(
            vectors, at + row * 2 * pairs, some, pairs, cosines, sines, anglesAt);
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }

  @Override
  public void rotatedProducts(
      float[] a,
      int aRows,
      RopeAngles pageAngles,
      RotaryPatterns b,
      MemorySegment indices,
      long indicesAt,
      float[] scores) {
    int pairs = b.pairs();
    int depth = b.width();
    if (PRODUCTS.itemsPerCall(PAGE, (long) aRows * depth) < PAGE) {
      PatternKernels.super.rotatedProducts(a, aRows, pageAngles, b, indices, indicesAt, scores);
      return;
    }
    Bounds.checkMultiple("pairs", pairs, 16);
    Bounds.check(a.length, aRows * depth);
    Bounds.check(pageAngles.cosines().length, pairs);
    Bounds.check(pageAngles.sines().length, pairs);
    Bounds.check(
        b.offsetAngles().aligned().byteSize(), 0, (ROTATION_STRIDE + 1L) * depth * Float.BYTES);
    Bounds.check(b.scratch().length, aRows * depth + OffsetAngles.LINE / Float.BYTES);
    Bounds.check(scores.length, aRows * PAGE);
    Bounds.check(b.rows().byteSize(), 0, (long) BINS * depth * Float.BYTES);
    Bounds.check(indices.byteSize(), indicesAt, PAGE);
    try {
      ROTATED_PRODUCTS.handle.invokeExact(
          a,
          aRows,
          pageAngles.cosines(),
          pageAngles.sines(),
          pairs,
          b.scratch(),
          scores,
          b.offsetAngles().aligned(),
          b.rows(),
          indices,
          indicesAt);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void residualRanges(float[] x, int at, RowBlock b, float[] lowest, float[] highest) {
    b.requireContiguous();
    Bounds.check(x.length, at, b.width());
    Bounds.check(b);
    Bounds.check(lowest.length, 0, b.rows());
    Bounds.check(highest.length, 0, b.rows());
    try {
      RESIDUAL_RANGES.handle.invokeExact(
          x, at, b.values(), b.at(), b.rows(), b.width(), lowest, highest);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void scatterAdd(
      float[] weights, int rows, float[] bins, int stride, MemorySegment indices, long indicesAt) {
    Bounds.check(weights.length, 0, rows, PAGE, PAGE);
    Bounds.check(bins.length, 0, BINS, stride, rows);
    Bounds.check(indices.byteSize(), indicesAt, PAGE);
    try {
      SCATTER_ADD.handle.invokeExact(weights, rows, bins, stride, indices, indicesAt);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }
}
