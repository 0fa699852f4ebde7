package dev.kvasir.natives;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.FloatKernels;
import dev.kvasir.kernel.HalfKernels;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.kernel.TileWorkspace;
import java.lang.foreign.MemorySegment;

/** Native kernels for rows of 16-bit floats. */
final class NativeHalves implements HalfKernels {
  private static final NativeFunction EXPAND = NativeFunctions.floatFunction("expand", "[FI MJII");
  private static final NativeFunction SUMS =
      NativeFunctions.floatFunction("half_sums", "[FII [FIII MJIII");
  private static final NativeFunction MANY_PRODUCTS =
      NativeFunctions.floatFunction("many_products", "[FI [FIII MJIII M");
  private static final NativeFunction MANY_SUMS =
      NativeFunctions.floatFunction("many_sums", "[FII [FIII MJIII M");

  private static final NativeFunction DENSE_PRODUCTS =
      NativeFunctions.floatFunction("dense_products", "[FI [FII MJIII");

  /** Multiplications per call, about 40 microseconds of work. */
  private static final CallBudget PRODUCTS_PER_CALL = new CallBudget(1 << 19);

  /**
   * The number of rows from which the other operand is converted to floats once, not for every four
   * rows.
   */
  private static final int MANY = 12;

  /** Minimum rows per call, if there are as many. */
  private static final int MIN_ROWS_PER_CALL = 16;

  /**
   * Columns up to which a register tile of rows fits into {@link CallScratch}, converted to floats.
   * Of longer rows, fewer would be multiplied at a time than there are registers for.
   */
  private static final int MAX_SCRATCH_COLUMNS = 1024;

  /** Rows of long matrices that are converted to floats at a time. */
  private static final int MAX_EXPANDED_ROWS = 64;

  /** Tokens whose values fit into {@link CallScratch}. */
  private static final int MAX_TOKENS = 128;

  private final HalfKernels scalar;
  private final FloatKernels floats;

  NativeHalves(HalfKernels scalar, FloatKernels floats) {
    this.scalar = scalar;
    this.floats = floats;
  }

  @Override
  public void expand(DenseMatrix matrix, int firstRow, int count, float[] out, int outAt) {
    int values = count * matrix.columns();
    long offset = matrix.offset(firstRow);
    switch (matrix.precision()) {
      case F32 -> scalar.expand(matrix, firstRow, count, out, outAt);
      case F16 -> expand(matrix.data(), offset, out, outAt, values, 0);
      case BF16 -> expand(matrix.data(), offset, out, outAt, values, 1);
    }
  }

  @Override
  public void expand(MemorySegment source, long offset, float[] out, int outAt, int count) {
    expand(source, offset, out, outAt, count, 0);
  }

  private static void expand(
      MemorySegment source, long offset, float[] out, int outAt, int count, int brains) {
    Bounds.check(source.byteSize(), offset, 2L * count);
    Bounds.check(out.length, outAt, count);
    try {
      EXPAND.handle.invokeExact(out, outAt, source, offset, count, brains);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void products(
      float[] a, DenseMatrix b, int firstRow, RowBlock c, TileWorkspace workspace) {
    int columns = b.columns();
    boolean many = c.rows() >= MANY && b.precision() != Precision.F32;
    if (many && (columns > CallScratch.FLOATS || isLong(c.width(), columns))) {
      expandAndMultiply(a, b, firstRow, c, workspace);
      return;
    }
    long rowBytes = (long) columns * b.precision().bytes();
    Bounds.check(b.data().byteSize(), b.offset(firstRow), c.width() * rowBytes);
    Bounds.check(a.length, 0, c.rows(), columns, columns);
    Bounds.check(c);
    if (many) {
      manyProducts(a, b, b.offset(firstRow), c);
    } else {
      fewProducts(a, b, firstRow, c);
    }
  }

  private static boolean isLong(int rows, int columns) {
    return columns > MAX_SCRATCH_COLUMNS && rows <= MAX_EXPANDED_ROWS;
  }

  private void expandAndMultiply(
      float[] a, DenseMatrix b, int firstRow, RowBlock c, TileWorkspace workspace) {
    int columns = b.columns();
    float[] rows = workspace.weights(c.width() * columns);
    expand(b, firstRow, c.width(), rows, 0);
    floats.products(
        workspace.activationRows().set(a, c.rows(), columns),
        workspace.weightRows().set(rows, c.width(), columns),
        c);
  }

  private static void fewProducts(float[] a, DenseMatrix b, int firstRow, RowBlock c) {
    int columns = b.columns();
    int perCall = PRODUCTS_PER_CALL.itemsPerCall(c.width(), (long) c.rows() * columns);
    for (int row = 0; row < c.width(); row += perCall) {
      try {
        DENSE_PRODUCTS.handle.invokeExact(
            a,
            c.rows(),
            c.values(),
            c.at() + row,
            c.stride(),
            b.data(),
            b.offset(firstRow + row),
            Math.min(perCall, c.width() - row),
            columns,
            kind(b.precision()));
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }

  /** Returns the number of a precision in floats.h. */
  private static int kind(Precision precision) {
    return switch (precision) {
      case F16 -> 0;
      case BF16 -> 1;
      case F32 -> 2;
    };
  }

  private static void manyProducts(float[] a, DenseMatrix b, long offset, RowBlock c) {
    int rows = c.rows();
    int perCall = rowsPerCall(rows, (long) c.width() * b.columns());
    for (int row = 0; row < rows; row += perCall) {
      try {
        MANY_PRODUCTS.handle.invokeExact(
            a,
            row,
            c.values(),
            c.at(row),
            c.stride(),
            Math.min(perCall, rows - row),
            b.data(),
            offset,
            c.width(),
            b.columns(),
            kind(b.precision()),
            CallScratch.ofThisThread());
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }

  /**
   * Returns the rows per call. Wide heads get slightly more than {@link CallBudget} allows;
   * otherwise conversion to floats would dominate.
   */
  private static int rowsPerCall(int count, long each) {
    int perCall = PRODUCTS_PER_CALL.itemsPerCall(count, each);
    return perCall >= count ? perCall : Math.max(MIN_ROWS_PER_CALL, perCall - perCall % 4);
  }

  @Override
  public void weightedSums(RowBlock weights, DenseMatrix v, int firstRow, RowBlock out) {
    out.requireShape(weights.rows(), v.columns());
    long offset = v.offset(firstRow);
    int tokens = weights.width();
    Bounds.check(v.data().byteSize(), offset, 2L * tokens * v.columns());
    Bounds.check(weights);
    Bounds.check(out);
    if (weights.rows() >= MANY && tokens <= MAX_TOKENS) {
      manySums(weights, v, offset, out);
      return;
    }
    try {
      SUMS.handle.invokeExact(
          weights.values(),
          weights.at(),
          weights.stride(),
          out.values(),
          out.at(),
          out.stride(),
          weights.rows(),
          v.data(),
          offset,
          tokens,
          v.columns(),
          kind(v.precision()));
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  private static void manySums(RowBlock weights, DenseMatrix v, long offset, RowBlock out) {
    int rows = weights.rows();
    int perCall = rowsPerCall(rows, (long) weights.width() * v.columns());
    for (int row = 0; row < rows; row += perCall) {
      try {
        MANY_SUMS.handle.invokeExact(
            weights.values(),
            weights.at(row),
            weights.stride(),
            out.values(),
            out.at(row),
            out.stride(),
            Math.min(perCall, rows - row),
            v.data(),
            offset,
            weights.width(),
            v.columns(),
            kind(v.precision()),
            CallScratch.ofThisThread());
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }
}
