package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * Products with weights that are integer codes.
 *
 * <p>With a code w, an activation's code a, and the scales and minimums of their groups, a product
 * is {@code fma(sum of w * a in a group, weight scale * activation scale, ...)} over the groups in
 * order, from zero on, and then {@code fma(minimum, sum of the group's activations, ...)} over the
 * groups again. Sums within a group are integers, so that their order does not matter.
 */
public interface GemmKernels {
  /**
   * Lays down tiles {@code firstTile} to {@code endTile} of a matrix, as {@link
   * QuantizedWeights#setTile} does with what blocks unpack to; different tiles may be laid by
   * different threads.
   *
   * @param blocks of all rows, one row after another // (rows, columns / 32)
   * @return whether they lie there; not so where a scale is not finite, or where these kernels
   *     leave it to others
   */
  default boolean repack(
      GgmlBlocks kind, MemorySegment blocks, QuantizedWeights matrix, int firstTile, int endTile) {
    return false;
  }

  /** Codes rows {@code first} to {@code end}; different rows may be prepared by several threads. */
  void quantize(
      QuantizedActivations activations, float[] x, int first, int end); // x: (rows, columns)

  /**
   * {@code out[i][r] = row r of the matrix . row (firstRow + i) of the activations}, for the rows
   * of tiles {@code firstTile} to {@code endTile}, the last of which may be partial.
   *
   * @param firstRow of the activations, as many of which are taken as {@code out} has rows
   * @param out // (activations, matrix.rows), where they lie in an output of all activations that
   *     begins with its array
   */
  void products(
      QuantizedWeights matrix,
      int firstTile,
      int endTile,
      QuantizedActivations activations,
      int firstRow,
      RowBlock out,
      TileWorkspace workspace);

  /** Rows {@code firstRow} to {@code firstRow + count} of a matrix as floats. */
  void dequantize(QuantizedWeights matrix, int firstRow, int count, float[] out, int outAt);
}
