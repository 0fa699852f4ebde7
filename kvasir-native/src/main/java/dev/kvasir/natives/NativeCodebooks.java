package dev.kvasir.natives;

import dev.kvasir.kernel.CodebookKernels;
import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.kernel.RotaryCodes;
import dev.kvasir.kernel.RowBlock;
import dev.kvasir.page.BitCodes;
import dev.kvasir.page.PageSize;
import dev.kvasir.page.StageCodes;
import java.lang.foreign.MemorySegment;

/** Native sums of codebook vectors. A page's tokens may take several calls. */
final class NativeCodebooks implements CodebookKernels {
  /** Bytes of codewords in L2 cache, about 40 microseconds of reading. */
  private static final CallBudget ROW_BYTES = new CallBudget(1 << 20);

  /** Floats that are read sequentially, about 40 microseconds of work. */
  private static final CallBudget FLOATS = new CallBudget(1 << 17);

  /** Weights that are added to bins, about 40 microseconds of work. */
  private static final CallBudget WEIGHTS = new CallBudget(1 << 17);

  private static final NativeFunction UNPACK_STAGES =
      NativeFunctions.floatFunction("unpack_stages", "[B MJI");
  private static final NativeFunction ROTATED_SUMS =
      NativeFunctions.floatFunction("turned_sums", "[B [BIIII [F [F [F [F [F [FI");
  private static final NativeFunction ROTATED_SCORES =
      NativeFunctions.floatFunction("turned_scores", "[B [BIIII [F [F [F [F [F [FI [F [F");
  private static final NativeFunction TOKEN_WEIGHTS =
      NativeFunctions.floatFunction("weigh_tokens", "[FI [F [FI [F [FI");
  private static final NativeFunction GATHERED_SUMS =
      NativeFunctions.floatFunction("picked_sums", "[FI [BIIII [F");
  private static final NativeFunction ROW_DOTS =
      NativeFunctions.floatFunction("row_products", "[F [FIII [F");
  private static final NativeFunction SCATTER_ADD =
      NativeFunctions.floatFunction("collect", "[BIII [FI M");
  private static final NativeFunction ADD_TO_SET_BITS =
      NativeFunctions.floatFunction("add_to_set_bits", "[BI [FI MM");
  private static final NativeFunction SCALED_COLUMNS =
      NativeFunctions.floatFunction("scaled_columns", "[F [F MIIII");
  private static final NativeFunction MIN_DISTANCES =
      NativeFunctions.floatFunction("least_distances", "[FI [FI [F");

  @Override
  public void unpackStages(MemorySegment source, long offset, int stages, byte[] indices) {
    Bounds.check(source.byteSize(), offset, (long) stages * StageCodes.STAGE_BYTES);
    Bounds.check(indices.length, 0, stages, 2 * PageSize.TOKENS, 2 * PageSize.TOKENS);
    try {
      UNPACK_STAGES.handle.invokeExact(indices, source, offset, stages);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  private static void checkIndices(byte[] indices, int sets, int tokens) {
    Bounds.check(indices.length, 0, sets, PageSize.TOKENS, tokens);
  }

  private static void check(RotaryCodes codes, int from, int end) {
    Int8Codebooks codebooks = codes.codebooks();
    int pairs = codebooks.pairs();
    int width = codebooks.width();
    Bounds.checkMultiple("pairs", pairs, 16);
    checkIndices(codes.indices(), codebooks.sets(), end);
    Bounds.check(
        codebooks.codewords().length, 0, codebooks.sets() * Int8Codebooks.CODEWORDS, width, width);
    Bounds.check(codebooks.units().length, 0, pairs);
    Bounds.check(codebooks.mean().length, 0, width);
    Bounds.check(codes.scales().length, from, end - from);
    Bounds.check(codes.cosines().length, from * pairs, (end - from) * pairs);
    Bounds.check(codes.sines().length, from * pairs, (end - from) * pairs);
  }

  @Override
  public void rotatedSums(RotaryCodes codes, int from, int end, short[] scratch, float[] out) {
    check(codes, from, end);
    Int8Codebooks codebooks = codes.codebooks();
    int width = codebooks.width();
    Bounds.check(out.length, 0, end - from, width, width);
    int perCall = ROW_BYTES.itemsPerCall(end - from, (long) codebooks.sets() * width);
    for (int token = from; token < end; token += perCall) {
      try {
        ROTATED_SUMS.handle.invokeExact(
            codebooks.codewords(),
            codes.indices(),
            codebooks.sets(),
            codebooks.pairs(),
            token,
            Math.min(end, token + perCall),
            codebooks.units(),
            codebooks.mean(),
            codes.scales(),
            codes.cosines(),
            codes.sines(),
            out,
            (token - from) * width);
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }

  @Override
  public void rotatedScores(
      RotaryCodes codes, float[] queries, int count, short[] sums, float[] keys, float[] scores) {
    int tokens = PageSize.TOKENS;
    check(codes, 0, tokens);
    Int8Codebooks codebooks = codes.codebooks();
    int width = codebooks.width();
    Bounds.check(queries.length, 0, count, width, width);
    Bounds.check(keys.length, 0, CodebookKernels.scoringScratch(width));
    Bounds.check(scores.length, 0, count, tokens, tokens);
    // A product takes as long as reading a few bytes of codewords.
    int perCall = ROW_BYTES.itemsPerCall(tokens, (codebooks.sets() + 4L * count) * width);
    for (int token = 0; token < tokens; token += perCall) {
      try {
        ROTATED_SCORES.handle.invokeExact(
            codebooks.codewords(),
            codes.indices(),
            codebooks.sets(),
            codebooks.pairs(),
            token,
            Math.min(tokens, token + perCall),
            codebooks.units(),
            codebooks.mean(),
            codes.scales(),
            codes.cosines(),
            codes.sines(),
            queries,
            count,
            keys,
            scores);
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }

  @Override
  public void tokenWeights(
      float[] probabilities,
      float[] inverseScales,
      float[] scales,
      float[] totals,
      RowBlock weights) {
    int tokens = PageSize.TOKENS;
    int rows = weights.width();
    int stride = weights.stride();
    Bounds.check(probabilities.length, 0, rows, tokens, tokens);
    Bounds.check(inverseScales.length, 0, rows);
    Bounds.check(scales.length, 0, tokens);
    Bounds.check(totals.length, 0, rows);
    Bounds.check(weights.values().length, weights.at(), tokens, stride, rows);
    try {
      TOKEN_WEIGHTS.handle.invokeExact(
          probabilities,
          rows,
          inverseScales,
          scales,
          stride,
          totals,
          weights.values(),
          weights.at());
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void gatheredSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums) {
    checkIndices(indices, sets, tokens);
    Bounds.check(rows.length, at, sets * Int8Codebooks.CODEWORDS, width, width);
    Bounds.check(sums.length, 0, tokens, width, width);
    int perCall = ROW_BYTES.itemsPerCall(tokens, (long) Float.BYTES * sets * width);
    for (int token = 0; token < tokens; token += perCall) {
      int end = Math.min(tokens, token + perCall);
      try {
        GATHERED_SUMS.handle.invokeExact(rows, at, indices, sets, token, end, width, sums);
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }

  @Override
  public void rowDots(float[] a, float[] b, int count, int width, float[] out) {
    Bounds.check(a.length, 0, count, width, width);
    Bounds.check(b.length, 0, count, width, width);
    Bounds.check(out.length, 0, count);
    int perCall = FLOATS.itemsPerCall(count, width);
    for (int row = 0; row < count; row += perCall) {
      int end = Math.min(count, row + perCall);
      try {
        ROW_DOTS.handle.invokeExact(a, b, row, end, width, out);
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }

  @Override
  public void scatterAdd(
      byte[] indices, int sets, int tokens, float[] weights, int stride, MemorySegment bins) {
    Bounds.checkMultiple("stride", stride, 4);
    checkIndices(indices, sets, tokens);
    Bounds.check(weights.length, 0, tokens, stride, stride);
    checkFloats(bins, sets * Int8Codebooks.CODEWORDS, stride);
    int perCall = WEIGHTS.itemsPerCall(tokens, (long) sets * stride);
    for (int token = 0; token < tokens; token += perCall) {
      int end = Math.min(tokens, token + perCall);
      try {
        SCATTER_ADD.handle.invokeExact(indices, sets, token, end, weights, stride, bins);
      } catch (Throwable e) {
        throw NativeFunctions.unexpected(e);
      }
    }
  }

  private static void checkFloats(MemorySegment floats, int rows, int stride) {
    Bounds.check(floats.byteSize(), 0, (long) Float.BYTES * rows * stride);
  }

  @Override
  public void addToSetBits(
      byte[] bits,
      int sets,
      float[] weights,
      int stride,
      MemorySegment scratch,
      MemorySegment bins) {
    Bounds.checkMultiple("stride", stride, 4);
    Bounds.check(bits.length, 0, sets, BitCodes.SET_BYTES, BitCodes.SET_BYTES);
    Bounds.check(weights.length, 0, PageSize.TOKENS, stride, stride);
    checkFloats(scratch, 1, CodebookKernels.setBitScratch(stride));
    checkFloats(bins, sets, stride);
    try {
      ADD_TO_SET_BITS.handle.invokeExact(bits, sets, weights, stride, scratch, bins);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void scaledColumns(
      MemorySegment bins,
      int count,
      int stride,
      int column,
      int rows,
      float[] factors,
      float[] out) {
    Bounds.check(stride, column, rows);
    checkFloats(bins, count, stride);
    Bounds.check(factors.length, 0, rows);
    Bounds.check(out.length, 0, rows, count, count);
    try {
      SCALED_COLUMNS.handle.invokeExact(factors, out, bins, count, stride, column, rows);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }

  @Override
  public void minDistances(float[] squares, int at, float[] products, int productsAt, float[] out) {
    Bounds.check(squares.length, at, Int8Codebooks.CODEWORDS * Int8Codebooks.CODEWORDS);
    Bounds.check(products.length, productsAt, Int8Codebooks.CODEWORDS);
    Bounds.check(out.length, 0, Int8Codebooks.CODEWORDS);
    try {
      MIN_DISTANCES.handle.invokeExact(squares, at, products, productsAt, out);
    } catch (Throwable e) {
      throw NativeFunctions.unexpected(e);
    }
  }
}
