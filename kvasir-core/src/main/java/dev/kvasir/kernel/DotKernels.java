package dev.kvasir.kernel;

import dev.kvasir.page.RowScaledCodes;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;

/** Sums over packed codes: dot products of codes with integers that weights are rounded to. */
public interface DotKernels {
  /**
   * Rounds the weights of all heads.
   *
   * @param x // (heads, entries)
   * @param exact two digits a weight instead of one: 128 times the precision for less than twice
   *     the work
   */
  void quantizeOperand(RowBlock x, boolean exact, QuantizedOperand operand);

  /**
   * The same where every entry has a scale and a zero point: rounds {@code x * (scale * unit)}, and
   * leaves the sum of {@code x * zero} as a head's offset: that of sixteen partial sums on every
   * machine, {@link PartialSums#dot}, entries filled up with zeros.
   *
   * @param x // (heads, entries)
   * @param bytes halves, little-endian
   * @param scalesAt where those of all entries begin
   * @param zerosAt where those of all entries begin
   * @param unit what scales are multiplied by, rounding once
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
   * {@code out[h][lane - firstTile * 16] += sum over entries e of weight[h][e] * code(e, lane) +
   * offset[h]}, for the lanes of tiles {@code firstTile} to {@code endTile}. It adds, so that a
   * page with codes of several widths is the sum of its grids. {@link QuantizedOperand} has the sum
   * to the bit.
   *
   * @param codes packed as the layout says, from {@code offset} on
   * @param out // (heads, lanes of those tiles), added to
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
   * {@code out[h][lane] += sum over entries e of x[h][e] * number(e, lane)}, for all lanes of a
   * grid: {@link #quantizeScaledOperand} and {@link #addDots} for each group of lanes.
   *
   * @param x // (heads, entries)
   * @param codes lanes are whole tiles, and so are its groups
   * @param bytes the grid, from {@code offset} on
   * @param room for weights; it is not said what is left there
   * @param out // (heads, lanes), added to
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
   * {@code out[i][lane] += sum over e of weights[i][e] * code(e, lane)}, for a few rows of weights
   * and signed codes of 16 bits.
   *
   * @param weights // (rows, entries)
   * @param offset of the first lane's code of the first entry, in bytes
   * @param codesStride from an entry to the next, in codes
   * @param out // (rows, lanes), added to
   */
  void shortSums(RowBlock weights, MemorySegment codes, long offset, int codesStride, RowBlock out);
}
