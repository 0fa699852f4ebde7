package dev.kvasir.page;

import java.lang.foreign.MemorySegment;

/**
 * Numbers of (entries, lanes) in one run of bytes: sums run over entries, lanes are independent of
 * each other. Keys have channels as entries and tokens as lanes, values have it the other way
 * round. A page is made of such grids, of any widths.
 */
public sealed interface CodeMatrix
    permits RowScaledCodes, ColumnScaledCodes, Bf16Codes, WideCodes, LloydMaxCodes, KeyChannels {
  int rows();

  int columns();

  /** Bits of a code. */
  int bits();

  /** Bytes of codes, with what fills up vectors. */
  int codeBytes();

  /** All bytes: codes, scales, zero points. */
  int bytes();

  /** What a stored page says of it; its class reads that back. */
  CodeMatrixHeader header();

  /**
   * Packs numbers.
   *
   * @param x (entries, lanes)
   */
  void quantize(CodeScratch scratch, float[] x, MemorySegment target, long offset);

  /**
   * What {@link #pack} left, as numbers.
   *
   * @param x (entries, lanes), set
   */
  void dequantize(CodeScratch scratch, MemorySegment source, long offset, float[] x);
}
