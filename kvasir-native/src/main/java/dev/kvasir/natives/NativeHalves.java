package dev.kvasir.natives;

import dev.kvasir.kernel.DenseMatrix;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.FloatKernels;
import dev.kvasir.kernel.HalfKernels;
import dev.kvasir.kernel.TileRoom;
import java.lang.foreign.MemorySegment;

/** Rows of 16-bit floats. */
final class NativeHalves implements HalfKernels {
  private static final Call EXPAND =
      Calls.floats(
          "expand",
          float[].class,
          int.class,
          MemorySegment.class,
          long.class,
          int.class,
          int.class);
  private static final Call SUMS =
      Calls.floats(
          "half_sums",
          float[].class,
          int.class,
          int.class,
          float[].class,
          int.class,
          int.class,
          int.class,
          MemorySegment.class,
          long.class,
          int.class,
          int.class,
          int.class);
  private static final Call MANY_PRODUCTS =
      Calls.floats(
          "many_products",
          float[].class,
          int.class,
          float[].class,
          int.class,
          int.class,
          int.class,
          MemorySegment.class,
          long.class,
          int.class,
          int.class,
          int.class,
          MemorySegment.class);
  private static final Call MANY_SUMS =
      Calls.floats(
          "many_sums",
          float[].class,
          int.class,
          int.class,
          float[].class,
          int.class,
          int.class,
          int.class,
          MemorySegment.class,
          long.class,
          int.class,
          int.class,
          int.class,
          MemorySegment.class);

  private static final Call DENSE_PRODUCTS =
      Calls.floats(
          "dense_products",
          float[].class,
          int.class,
          float[].class,
          int.class,
          int.class,
          MemorySegment.class,
          long.class,
          int.class,
          int.class,
          int.class);

  /** Multiplications, some 40 microseconds of them. */
  private static final Work PRODUCTS_OF_A_CALL = new Work(1 << 19);

  /** Rows from which on what they meet is made floats once instead of for every four. */
  private static final int MANY = 12;

  /** Rows of a call at the least, where there are as many. */
  private static final int LEAST_OF_A_CALL = 16;

  /** Tokens whose values fit into the room of a call. */
  private static final int MOST_TOKENS = 128;

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
      throw Calls.unexpected(e);
    }
  }

  @Override
  public void products(
      float[] a,
      int aRows,
      DenseMatrix b,
      int firstRow,
      int bRows,
      float[] c,
      int cAt,
      int cStride,
      TileRoom room) {
    int columns = b.columns();
    if (aRows >= MANY && b.precision() != Precision.F32 && columns > CallRoom.FLOATS) {
      float[] rows = room.weights(bRows * columns);
      expand(b, firstRow, bRows, rows, 0);
      floats.products(a, 0, columns, aRows, rows, 0, columns, bRows, columns, c, cAt, cStride);
      return;
    }
    long rowBytes = (long) columns * b.precision().bytes();
    Bounds.check(b.data().byteSize(), b.offset(firstRow), bRows * rowBytes);
    Bounds.check(a.length, 0, aRows, columns, columns);
    Bounds.check(c.length, cAt, aRows, cStride, bRows);
    if (aRows >= MANY && b.precision() != Precision.F32) {
      manyProducts(a, aRows, b, b.offset(firstRow), bRows, c, cAt, cStride);
      return;
    }
    int together = PRODUCTS_OF_A_CALL.together(bRows, (long) aRows * columns);
    for (int row = 0; row < bRows; row += together) {
      int some = Math.min(together, bRows - row);
      long offset = b.offset(firstRow + row);
      try {
        DENSE_PRODUCTS.handle.invokeExact(
            a, aRows, c, cAt + row, cStride, b.data(), offset, some, columns, kind(b.precision()));
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  /** As floats.h numbers them. */
  private static int kind(Precision precision) {
    return switch (precision) {
      case F16 -> 0;
      case BF16 -> 1;
      case F32 -> 2;
    };
  }

  private static void manyProducts(
      float[] a,
      int aRows,
      DenseMatrix b,
      long offset,
      int bRows,
      float[] c,
      int cAt,
      int cStride) {
    int together = rowsOfACall(aRows, (long) bRows * b.columns());
    for (int row = 0; row < aRows; row += together) {
      try {
        MANY_PRODUCTS.handle.invokeExact(
            a,
            row,
            c,
            cAt + row * cStride,
            cStride,
            Math.min(together, aRows - row),
            b.data(),
            offset,
            bRows,
            b.columns(),
            kind(b.precision()),
            CallRoom.ofThisThread());
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }

  /** Of wide heads a few more than {@link Work} has it, or making floats would be most of it. */
  private static int rowsOfACall(int count, long each) {
    int together = PRODUCTS_OF_A_CALL.together(count, each);
    return together >= count ? together : Math.max(LEAST_OF_A_CALL, together - together % 4);
  }

  @Override
  public void weightedSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      DenseMatrix v,
      int firstRow,
      int tokens,
      float[] out,
      int outAt,
      int outStride) {
    long offset = v.offset(firstRow);
    Bounds.check(v.data().byteSize(), offset, 2L * tokens * v.columns());
    Bounds.check(weights.length, weightsAt, rows, weightsStride, tokens);
    Bounds.check(out.length, outAt, rows, outStride, v.columns());
    if (rows >= MANY && tokens <= MOST_TOKENS) {
      manySums(weights, weightsAt, weightsStride, rows, v, offset, tokens, out, outAt, outStride);
      return;
    }
    try {
      SUMS.handle.invokeExact(
          weights,
          weightsAt,
          weightsStride,
          out,
          outAt,
          outStride,
          rows,
          v.data(),
          offset,
          tokens,
          v.columns(),
          kind(v.precision()));
    } catch (Throwable e) {
      throw Calls.unexpected(e);
    }
  }

  private static void manySums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows,
      DenseMatrix v,
      long offset,
      int tokens,
      float[] out,
      int outAt,
      int outStride) {
    int together = rowsOfACall(rows, (long) tokens * v.columns());
    for (int row = 0; row < rows; row += together) {
      try {
        MANY_SUMS.handle.invokeExact(
            weights,
            weightsAt + row * weightsStride,
            weightsStride,
            out,
            outAt + row * outStride,
            outStride,
            Math.min(together, rows - row),
            v.data(),
            offset,
            tokens,
            v.columns(),
            kind(v.precision()),
            CallRoom.ofThisThread());
      } catch (Throwable e) {
        throw Calls.unexpected(e);
      }
    }
  }
}
