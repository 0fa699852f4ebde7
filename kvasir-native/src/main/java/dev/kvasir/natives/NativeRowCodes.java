package dev.kvasir.natives;

import dev.kvasir.kernel.CodeBands;
import dev.kvasir.kernel.NibbleRows;
import dev.kvasir.kernel.RowCodeBlock;
import dev.kvasir.kernel.RowCodeKernels;
import dev.kvasir.kernel.RowCodes;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Rows of codes of many widths. A page of them goes into a call as it is: of heads of 128 channels
 * that is 16 microseconds' work.
 */
final class NativeRowCodes implements RowCodeKernels {
  /** Values that are made floats or turn, some 40 microseconds of them. */
  private static final Work FLOATS = new Work(1 << 17);

  /** Bytes eight at a time; their order does not matter. */
  private static final VarHandle EIGHT =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final long SIGNS = 0x8080808080808080L;

  private static final Call DECODE =
      Calls.floats(
          "decode",
          int[].class,
          int.class,
          float[].class,
          float[].class,
          float[].class,
          byte[].class,
          int[].class,
          float[].class,
          MemorySegment.class,
          long.class,
          int.class,
          MemorySegment.class,
          int.class);
  private static final Call PRODUCTS =
      Calls.floats(
          "decoded_products",
          int[].class,
          int.class,
          float[].class,
          float[].class,
          float[].class,
          byte[].class,
          int[].class,
          float[].class,
          float[].class,
          float[].class,
          int.class,
          float[].class,
          float[].class,
          int.class,
          MemorySegment.class,
          long.class,
          int.class,
          MemorySegment.class,
          int.class);
  private static final Call SUMS =
      Calls.code(
          "column_sums",
          int[].class,
          int.class,
          float[].class,
          float[].class,
          float[].class,
          byte[].class,
          int[].class,
          float[].class,
          int.class,
          float[].class,
          float[].class,
          MemorySegment.class,
          long.class,
          int.class,
          MemorySegment.class,
          int.class,
          int.class);
  private static final Call GATHER =
      Calls.floats(
          "gather",
          int[].class,
          float[].class,
          MemorySegment.class,
          long.class,
          int.class,
          int.class,
          int.class,
          int.class);
  private static final Call TURN_EACH =
      Calls.floats(
          "turn_each",
          float[].class,
          int.class,
          int.class,
          int.class,
          float[].class,
          float[].class);

  @Override
  public void decode(RowCodeBlock codes, float[] out) {
    check(codes);
    CodeBands bands = codes.bands();
    NibbleRows base = codes.base();
    Bounds.check(out.length, 0, bands.rows(), bands.width(), bands.width());
    try {
      DECODE.handle.invokeExact(
          bands.plan(),
          bands.bands(),
          codes.lows(),
          base.steps(),
          RowCodes.scales(),
          codes.tokens(),
          codes.picked(),
          out,
          codes.source(),
          codes.offset(),
          bands.width(),
          base.data(),
          base.stride());
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void products(
      RowCodeBlock codes,
      float[] cosines,
      float[] sines,
      float[] a,
      int aRows,
      float[] room,
      float[] c) {
    check(codes);
    CodeBands bands = codes.bands();
    NibbleRows base = codes.base();
    int rows = bands.rows();
    int width = bands.width();
    Bounds.check(cosines.length, 0, rows, width / 2, width / 2);
    Bounds.check(sines.length, 0, rows, width / 2, width / 2);
    Bounds.check(a.length, 0, aRows, width, width);
    Bounds.check(c.length, 0, aRows, rows, rows);
    checkRoom(bands, aRows, room);
    try {
      PRODUCTS.handle.invokeExact(
          bands.plan(),
          bands.bands(),
          codes.lows(),
          base.steps(),
          RowCodes.scales(),
          codes.tokens(),
          codes.picked(),
          cosines,
          sines,
          a,
          aRows,
          room,
          c,
          rows,
          codes.source(),
          codes.offset(),
          width,
          base.data(),
          base.stride());
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void weightedSums(RowCodeBlock codes, float[] w, int wRows, float[] room, float[] out) {
    CodeBands bands = codes.bands();
    NibbleRows base = codes.base();
    bands.requireColumns();
    check(codes);
    int rows = bands.rows();
    int width = bands.width();
    Bounds.check(w.length, 0, wRows, rows, rows);
    Bounds.check(out.length, 0, wRows, width, width);
    checkRoom(bands, wRows, room);
    try {
      SUMS.handle.invokeExact(
          bands.columns(),
          bands.bands(),
          codes.lows(),
          base.steps(),
          RowCodes.scales(),
          codes.tokens(),
          codes.picked(),
          w,
          wRows,
          room,
          out,
          codes.source(),
          codes.offset(),
          width,
          base.data(),
          base.stride(),
          rows);
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  private static void checkRoom(CodeBands bands, int together, float[] room) {
    Bounds.check(MOST_ROWS, together);
    Bounds.check(room.length, RowCodeKernels.room(bands.rows(), bands.width()));
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
    Bounds.check(codes.source().byteSize(), codes.offset(), bands.bytes() + RowCodes.BYTES_BEHIND);
    Bounds.check(codes.lows().length, width);
    int rows = bands.rows();
    Bounds.check(codes.tokens().length, rows);
    Bounds.check(codes.picked().length, rows);
    if (!areTokens(codes.tokens(), rows)) {
      throw new IndexOutOfBoundsException("a token beside the %d rows".formatted(rows));
    }
    int most = highest(codes.picked(), rows);
    Bounds.check(base.data().byteSize(), (long) most * base.stride(), base.rowBytes());
  }

  /** Of as many rows as there can be, a byte that is not negative is one. */
  private static boolean areTokens(byte[] tokens, int rows) {
    if (rows == CodeBands.MOST_ROWS) {
      long all = 0;
      for (int row = 0; row < CodeBands.MOST_ROWS; row += Long.BYTES) {
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

  private static void checkFirst(int least) {
    if (least < 0) {
      throw new IndexOutOfBoundsException("row %d".formatted(least));
    }
  }

  @Override
  public void gather(
      MemorySegment source,
      long offset,
      int stride,
      int[] picked,
      int count,
      int width,
      float[] out) {
    if (count == 0) {
      return;
    }
    Bounds.check(stride, width);
    Bounds.check(picked.length, 0, count);
    Bounds.check(out.length, 0, count, width, width);
    int most = highest(picked, count);
    Bounds.check(source.byteSize(), offset, Short.BYTES * ((long) most * stride + width));
    int together = FLOATS.together(count, width);
    for (int token = 0; token < count; token += together) {
      int end = Math.min(count, token + together);
      try {
        GATHER.handle.invokeExact(picked, out, source, offset, stride, token, end, width);
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  /** The highest of rows, none of which lies below the first. */
  private static int highest(int[] picked, int count) {
    int least = 0;
    int most = 0;
    for (int token = 0; token < count; token++) {
      least = Math.min(least, picked[token]);
      most = Math.max(most, picked[token]);
    }
    checkFirst(least);
    return most;
  }

  @Override
  public void turnEach(float[] rows, int count, int pairs, float[] cosines, float[] sines) {
    Bounds.check(rows.length, 0, count, 2 * pairs, 2 * pairs);
    Bounds.check(cosines.length, 0, count, pairs, pairs);
    Bounds.check(sines.length, 0, count, pairs, pairs);
    int together = FLOATS.together(count, 2L * pairs);
    for (int row = 0; row < count; row += together) {
      int end = Math.min(count, row + together);
      try {
        TURN_EACH.handle.invokeExact(rows, row, end, pairs, cosines, sines);
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }
}
