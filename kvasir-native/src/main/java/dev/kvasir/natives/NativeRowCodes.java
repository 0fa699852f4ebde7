package dev.kvasir.natives;

import dev.kvasir.kernel.CodeBands;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodeBlock;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowCodeLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Native kernels for rows of codes of different widths. A page is one call, which takes 16
 * microseconds for heads of 128 channels.
 */
final class NativeRowCodes implements RowCodeKernels {
  /** Values converted or rotated per call, about 40 microseconds of work. */
  private static final CallBudget FLOATS = new CallBudget(1 << 17);

  /** Reads eight bytes at a time; their order does not matter. */
  private static final VarHandle EIGHT =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final long SIGNS = 0x8080808080808080L;

  private static final NativeFunction DECODE =
      NativeFunctions.floatFunction("decode", "[II [F [F [F [B [I [F MJI MI");
  private static final NativeFunction PRODUCTS =
      NativeFunctions.floatFunction(
          "decoded_products", "[II [F [F [F [B [I [F [F [FI [F [FI MJI MI");
  private static final NativeFunction SUMS =
      NativeFunctions.integerFunction("column_sums", "[II [F [F [F [B [I [FI [F [F MJI MII");
  private static final NativeFunction ORDER =
      NativeFunctions.floatFunction("order_rows", "[II [B [I MJ MJ");
  private static final NativeFunction GATHER =
      NativeFunctions.floatFunction("gather", "[I [F MJIIII");
  private static final NativeFunction ROTATE_EACH =
      NativeFunctions.floatFunction("turn_each", "[FIII [F [F");

  @Override
  public void decode(RowCodeBlock codes, float[] out) {
    check(codes);
    CodeBands bands = codes.bands();
    NibbleRows base = codes.base();
    Bounds.check(out.length, 0, bands.rows(), bands.width(), bands.width());
    try {
      DECODE.handle.invokeExact(
          bands.descriptor(),
          bands.bands(),
          codes.lows(),
          base.steps(),
          RowCodeLayout.scales(),
          codes.tokens(),
          codes.tableRows(),
          out,
          codes.source(),
          codes.offset(),
          bands.width(),
          base.data(),
          base.stride());
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void products(
      RowCodeBlock codes,
      float[] cosines,
      float[] sines,
      float[] a,
      int aRows,
      float[] scratch,
      float[] c) {
    check(codes);
    CodeBands bands = codes.bands();
    NibbleRows base = codes.base();
    int rows = bands.rows();
    int width = bands.width();
    if (rows == 0) {
      return;
    }
    Bounds.check(cosines.length, 0, rows, width / 2, width / 2);
    Bounds.check(sines.length, 0, rows, width / 2, width / 2);
    Bounds.check(a.length, 0, aRows, width, width);
    Bounds.check(c.length, 0, aRows, rows, rows);
    checkScratch(bands, aRows, scratch);
    try {
      PRODUCTS.handle.invokeExact(
          bands.descriptor(),
          bands.bands(),
          codes.lows(),
          base.steps(),
          RowCodeLayout.scales(),
          codes.tokens(),
          codes.tableRows(),
          cosines,
          sines,
          a,
          aRows,
          scratch,
          c,
          rows,
          codes.source(),
          codes.offset(),
          width,
          base.data(),
          base.stride());
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void weightedSums(RowCodeBlock codes, float[] w, int wRows, float[] scratch, float[] out) {
    CodeBands bands = codes.bands();
    NibbleRows base = codes.base();
    bands.requireInterleavable();
    check(codes);
    int rows = bands.rows();
    int width = bands.width();
    Bounds.check(w.length, 0, wRows, rows, rows);
    Bounds.check(out.length, 0, wRows, width, width);
    checkScratch(bands, wRows, scratch);
    try {
      SUMS.handle.invokeExact(
          bands.columnDescriptor(),
          bands.bands(),
          codes.lows(),
          base.steps(),
          RowCodeLayout.scales(),
          codes.tokens(),
          codes.tableRows(),
          w,
          wRows,
          scratch,
          out,
          codes.source(),
          codes.offset(),
          width,
          base.data(),
          base.stride(),
          rows);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  private static void checkScratch(CodeBands bands, int perCall, float[] scratch) {
    Bounds.check(MAX_ROWS, perCall);
    Bounds.check(scratch.length, RowCodeKernels.scratchFloats(bands.rows(), bands.width()));
  }

  private static void check(RowCodeBlock codes) {
    CodeBands bands = codes.bands();
    NibbleRows base = codes.base();
    int width = bands.width();
    if (base.width() != width) {
      throw new IllegalArgumentException(
          "a table of %d channels under codes of %d; expected as many"
              .formatted(base.width(), width));
    }
    Bounds.check(
        codes.source().byteSize(), codes.offset(), bands.bytes() + RowCodeLayout.OVERREAD_BYTES);
    Bounds.check(codes.lows().length, width);
    int rows = bands.rows();
    Bounds.check(codes.tokens().length, rows);
    Bounds.check(codes.tableRows().length, rows);
    if (!areTokens(codes.tokens(), rows)) {
      throw new IndexOutOfBoundsException("a token outside of the %d rows".formatted(rows));
    }
    if (!areRowsOf(codes.tableRows(), rows, base.rows())) {
      throw new IndexOutOfBoundsException(
          "a row outside of the %d rows of the table".formatted(base.rows()));
    }
  }

  /** Returns whether all indices are within a table: without a branch per index. */
  private static boolean areRowsOf(int[] indices, int count, int tableRows) {
    int signs = 0;
    int last = tableRows - 1;
    for (int i = 0; i < count; i++) {
      signs |= indices[i] | last - indices[i];
    }
    return signs >= 0;
  }

  /**
   * Returns whether all tokens are within the rows. With the maximum number of rows, every
   * non-negative byte is.
   */
  private static boolean areTokens(byte[] tokens, int rows) {
    if (rows == CodeBands.MAX_ROWS) {
      long all = 0;
      for (int row = 0; row < CodeBands.MAX_ROWS; row += Long.BYTES) {
        all |= (long) EIGHT.get(tokens, row);
      }
      return (all & SIGNS) == 0;
    }
    for (int row = 0; row < rows; row++) {
      if (tokens[row] < 0 || tokens[row] >= rows) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void orderRows(
      MemorySegment classes,
      long at,
      MemorySegment ids,
      int[] rowOfId,
      byte[] tokens,
      int[] tableRows) {
    int rows = CodeBands.MAX_ROWS;
    Bounds.check(classes.byteSize(), at, rows / Byte.SIZE + Long.BYTES);
    Bounds.check(ids.byteSize(), 0, rowOfId.length == 0 ? 0 : (long) Integer.BYTES * rows);
    Bounds.check(tokens.length, rows);
    Bounds.check(tableRows.length, rows);
    try {
      ORDER.handle.invokeExact(rowOfId, rowOfId.length, tokens, tableRows, classes, at, ids, 0L);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  private static void checkFirst(int lowest) {
    if (lowest < 0) {
      throw new IndexOutOfBoundsException("row %d".formatted(lowest));
    }
  }

  @Override
  public void gather(
      MemorySegment source,
      long offset,
      int stride,
      int[] rowIndices,
      int count,
      int width,
      float[] out) {
    if (count == 0) {
      return;
    }
    Bounds.check(stride, width);
    Bounds.check(rowIndices.length, 0, count);
    Bounds.check(out.length, 0, count, width, width);
    int highest = highest(rowIndices, count);
    Bounds.check(source.byteSize(), offset, Short.BYTES * ((long) highest * stride + width));
    int perCall = FLOATS.itemsPerCall(count, width);
    for (int token = 0; token < count; token += perCall) {
      int end = Math.min(count, token + perCall);
      try {
        GATHER.handle.invokeExact(rowIndices, out, source, offset, stride, token, end, width);
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }

  /** Returns the highest row index; throws if one is negative. */
  private static int highest(int[] rowIndices, int count) {
    int lowest = 0;
    int highest = 0;
    for (int token = 0; token < count; token++) {
      lowest = Math.min(lowest, rowIndices[token]);
      highest = Math.max(highest, rowIndices[token]);
    }
    checkFirst(lowest);
    return highest;
  }

  @Override
  public void rotateEach(float[] rows, int count, int pairs, float[] cosines, float[] sines) {
    Bounds.check(rows.length, 0, count, 2 * pairs, 2 * pairs);
    Bounds.check(cosines.length, 0, count, pairs, pairs);
    Bounds.check(sines.length, 0, count, pairs, pairs);
    int perCall = FLOATS.itemsPerCall(count, 2L * pairs);
    for (int row = 0; row < count; row += perCall) {
      int end = Math.min(count, row + perCall);
      try {
        ROTATE_EACH.handle.invokeExact(rows, row, end, pairs, cosines, sines);
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }
}
