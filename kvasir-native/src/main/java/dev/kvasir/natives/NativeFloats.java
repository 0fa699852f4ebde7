package dev.kvasir.natives;

import dev.kvasir.kernel.FloatKernels;
import dev.kvasir.kernel.RowBlock;

/** Native products and sums of floats, with a limited number of rows per call. */
final class NativeFloats implements FloatKernels {
  /** Multiplications per call, about 40 microseconds of work. */
  private static final CallBudget PRODUCTS_PER_CALL = new CallBudget(1 << 19);

  /** Rows of a register tile. Fewer would read the other operand more often. */
  private static final int TILE_ROWS = 4;

  private static final NativeFunction PRODUCTS = rowsAndRows("products");
  private static final NativeFunction WEIGHTED_SUMS = rowsAndRows("weighted_sums");

  private static NativeFunction rowsAndRows(String name) {
    return NativeFunctions.floatFunction(name, "[FIII [FIIII [FII");
  }

  @Override
  public void products(RowBlock a, RowBlock b, RowBlock c) {
    b.requireShape(b.rows(), a.width());
    c.requireShape(a.rows(), b.rows());
    call(PRODUCTS, a, b, c);
  }

  @Override
  public void weightedSums(RowBlock weights, RowBlock v, RowBlock out) {
    v.requireShape(weights.width(), v.width());
    out.requireShape(weights.rows(), v.width());
    call(WEIGHTED_SUMS, weights, v, out);
  }

  /** Returns whole register tiles, also where two rows are within the budget. */
  private static int rowsPerCall(int rows, long each) {
    int perCall = PRODUCTS_PER_CALL.itemsPerCall(rows, each);
    if (perCall >= rows || perCall < TILE_ROWS / 2) {
      return perCall;
    }
    return Math.max(TILE_ROWS, perCall - perCall % TILE_ROWS);
  }

  /** Calls a function with a range of rows of the first and last operand at a time. */
  private static void call(NativeFunction function, RowBlock a, RowBlock b, RowBlock c) {
    Bounds.check(a);
    Bounds.check(b);
    Bounds.check(c);
    int rows = a.rows();
    int perCall = rowsPerCall(rows, (long) b.rows() * b.width());
    for (int row = 0; row < rows; row += perCall) {
      try {
        function.handle.invokeExact(
            a.values(),
            a.at(row),
            a.stride(),
            Math.min(perCall, rows - row),
            b.values(),
            b.at(),
            b.stride(),
            b.rows(),
            b.width(),
            c.values(),
            c.at(row),
            c.stride());
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }
}
