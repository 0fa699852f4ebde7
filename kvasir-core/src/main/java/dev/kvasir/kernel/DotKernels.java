package dev.kvasir.kernel;

import dev.kvasir.page.RowScaledCodes;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;

/** Dot products of packed codes with quantized operands. */
public interface DotKernels {
  /**
   * Quantizes the weights of all heads.
   *
   * @param x // (heads, depth)
   * @param exact two bytes per weight instead of one: 128 times the precision for less than twice
   *     the work
   */
  void quantizeOperand(RowBlock x, boolean exact, QuantizedOperand operand);

  /**
   * Quantizes weights for codes with a scale and a zero point per row. Rounds {@code x * (scale *
   * unit)} and sets the sum of {@code x * zero} as a head's offset. The sum is {@link
   * PartialSums#dot}, padded with zeros, the same on every machine.
   *
   * @param x // (heads, depth)
   * @param bytes halves, little-endian
   * @param scalesAt offset of the scales of all rows
   * @param zerosAt offset of the zeros of all rows
   * @param unit factor of the scales, rounding once
   */
  void quantizeScaledOperand(
      RowBlock x,
      MemorySegment bytes,
      long scalesAt,
      long zerosAt,
      float unit,
      boolean exact,
      QuantizedOperand operand);

  /**
   * {@code out[h][column - firstTile * 16] += sum over rows r of weight[h][r] * code(r, column) +
   * offset[h]}, for the columns of tiles {@code firstTile} to {@code endTile}. The kernel adds, so
   * that a page with codes of several widths is the sum of its matrices. {@link QuantizedOperand}
   * defines the sum to the last bit.
   *
   * @param codes packed as in {@code layout}, from {@code offset} on
   * @param out // (heads, columns of those tiles), added to
   */
  void addDots(
      WordLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      QuantizedOperand operand,
      RowBlock out);

  /**
   * {@code out[h][column] += sum over rows r of x[h][r] * number(r, column)}, for all columns of a
   * matrix: {@link #quantizeScaledOperand} and {@link #addDots} for each group of columns.
   *
   * @param x // (heads, rows)
   * @param codes a matrix whose columns and groups are whole tiles
   * @param bytes the matrix, from {@code offset} on
   * @param operand scratch memory; its contents afterwards are unspecified
   * @param out // (heads, columns), added to
   */
  default void addScaledDots(
      RowBlock x,
      boolean exact,
      RowScaledCodes codes,
      MemorySegment bytes,
      long offset,
      QuantizedOperand operand,
      RowBlock out) {
    x.requireShape(x.rows(), codes.rows());
    out.requireShape(x.rows(), codes.columns());
    for (int group = 0; group < codes.groups(); group++) {
      long scalesAt = offset + codes.scalesOffset(group);
      long zerosAt = offset + codes.zerosOffset(group);
      quantizeScaledOperand(x, bytes, scalesAt, zerosAt, codes.unit(), exact, operand);
      int first = group * codes.group();
      int end = Math.min(first + codes.group(), codes.columns());
      int firstTile = first / WordLayout.TILE;
      int endTile = end / WordLayout.TILE;
      RowBlock columns = operand.groupRows().setColumns(out, first, end - first);
      addDots(codes.layout(), bytes, offset, firstTile, endTile, operand, columns);
    }
  }

  /**
   * {@code out[i][column] += sum over r of weights[i][r] * code(r, column)}, for a few rows of
   * weights and signed 16-bit codes.
   *
   * @param weights // (rows, depth)
   * @param offset of the first code, in bytes
   * @param codesStride from one row of codes to the next, in codes
   * @param out // (rows, columns), added to
   */
  void shortSums(RowBlock weights, MemorySegment codes, long offset, int codesStride, RowBlock out);
}
