package dev.kvasir.page;

import java.lang.foreign.MemorySegment;

/**
 * The layout of a quantized matrix (rows, columns) in one run of bytes. Sums run over rows; columns
 * are independent of each other. Keys have channels as rows and tokens as columns, values the other
 * way round. A page consists of such matrices of any widths.
 */
public sealed interface CodeMatrix
    permits RowScaledCodes, ColumnScaledCodes, Bf16Codes, WideCodes, LloydMaxCodes, KeyChannels {
  int rows();

  int columns();

  int bits();

  /** Returns the bytes of codes, including padding to whole vectors. */
  int codeBytes();

  /** Returns all bytes: codes, scales, zero points. */
  int bytes();

  /** Returns the header by which a stored page describes this matrix. */
  CodeMatrixHeader header();

  /**
   * Quantizes numbers.
   *
   * @param x (rows, columns)
   */
  void quantize(CodeScratch scratch, float[] x, MemorySegment target, long offset);

  /**
   * Writes the numbers that {@link #quantize} stored.
   *
   * @param x (rows, columns), set
   */
  void dequantize(CodeScratch scratch, MemorySegment source, long offset, float[] x);
}
