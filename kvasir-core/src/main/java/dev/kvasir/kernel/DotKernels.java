package dev.kvasir.kernel;

import dev.kvasir.page.EntryScaledCodes;
import dev.kvasir.page.WordLayout;
import java.lang.foreign.MemorySegment;

/** Sums over packed codes: dot products of codes with integers that weights are rounded to. */
public interface DotKernels {
  /**
   * Rounds the weights of all heads.
   *
   * @param x // (heads, entries), rows {@code stride} apart
   * @param exact two digits a weight instead of one: 128 times the precision for less than twice
   *     the work
   */
  void weigh(
      float[] x, int at, int stride, int heads, int entries, boolean exact, CodeWeights weights);

  /**
   * The same where every entry has a scale and a zero point: rounds {@code x * (scale * unit)}, and
   * leaves the sum of {@code x * zero} as a head's offset: that of sixteen partial sums on every
   * machine, {@link PartialSums#dot}, entries filled up with zeros.
   *
   * @param bytes halves, little-endian
   * @param scalesAt where those of all entries begin
   * @param zerosAt where those of all entries begin
   * @param unit what scales are multiplied by, rounding once
   */
  void weighScaled(
      float[] x,
      int at,
      int stride,
      int heads,
      int entries,
      MemorySegment bytes,
      long scalesAt,
      long zerosAt,
      float unit,
      boolean exact,
      CodeWeights weights);

  /**
   * {@code out[outAt + h * outStride + lane - firstTile * 16] += sum over entries e of weight[h][e]
   * * code(e, lane) + offset[h]}, for the lanes of tiles {@code firstTile} to {@code endTile}. It
   * adds, so that a page with codes of several widths is the sum of its grids. {@link CodeWeights}
   * has the sum to the bit.
   *
   * @param codes packed as the layout says, from {@code offset} on
   */
  void addDots(
      WordLayout layout,
      MemorySegment codes,
      long offset,
      int firstTile,
      int endTile,
      CodeWeights weights,
      float[] out,
      int outAt,
      int outStride);

  /**
   * {@code out[outAt + h * outStride + lane] += sum over entries e of x[h][e] * number(e, lane)},
   * for all lanes of a grid: {@link #weighScaled} and {@link #addDots} for each group of lanes.
   *
   * @param x // (heads, entries), rows {@code stride} apart
   * @param codes lanes are whole tiles, and so are its groups
   * @param bytes the grid, from {@code offset} on
   * @param room for weights; it is not said what is left there
   */
  default void addScaledDots(
      float[] x,
      int at,
      int stride,
      int heads,
      boolean exact,
      EntryScaledCodes codes,
      MemorySegment bytes,
      long offset,
      CodeWeights room,
      float[] out,
      int outAt,
      int outStride) {
    for (int group = 0; group < codes.groups(); group++) {
      long scalesAt = offset + codes.scalesOffset(group);
      long zerosAt = offset + codes.zerosOffset(group);
      int entries = codes.entries();
      weighScaled(
          x, at, stride, heads, entries, bytes, scalesAt, zerosAt, codes.unit(), exact, room);
      int first = group * codes.group();
      int end = Math.min(first + codes.group(), codes.lanes());
      int firstTile = first / WordLayout.TILE;
      int endTile = end / WordLayout.TILE;
      WordLayout layout = codes.layout();
      addDots(layout, bytes, offset, firstTile, endTile, room, out, outAt + first, outStride);
    }
  }

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
