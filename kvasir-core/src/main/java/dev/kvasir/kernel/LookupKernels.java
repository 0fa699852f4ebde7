package dev.kvasir.kernel;

import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;

/** Sums over packed codes. */
public interface LookupKernels {
  /**
   * Makes the tables of all heads.
   *
   * @param weights // (heads, entries), rows {@code stride} apart
   * @param exact two digits a sum instead of one: 64 times the precision for less than twice the
   *     work
   */
  void buildTables(
      float[] weights,
      int at,
      int stride,
      int heads,
      int entries,
      boolean exact,
      LookupTables tables);

  /**
   * {@code out[outAt + h * outStride + lane - firstTile * 32] += sum over entries e of weight[h][e]
   * * code(e, lane)}, for the lanes of tiles {@code firstTile} to {@code endTile}. It adds, so that
   * a page with codes of several widths is the sum of its grids.
   *
   * @param codes packed as the layout says, from {@code offset} on
   */
  void lookup(
      PlaneLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      LookupTables tables,
      float[] out,
      int outAt,
      int outStride);

  /**
   * {@code out[i][lane] += sum over e of weights[i][e] * code(e, lane)}, for a few rows of weights
   * and signed codes of 16 bits.
   *
   * @param offset of the first lane's code of the first entry, in bytes
   * @param codesStride from an entry to the next, in codes
   */
  void shortSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows, // (rows, entries)
      MemorySegment codes,
      long offset,
      int codesStride,
      int entries,
      int lanes,
      float[] out,
      int outAt,
      int outStride); // (rows, lanes)
}
