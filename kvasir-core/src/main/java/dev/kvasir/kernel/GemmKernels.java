package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/**
 * Matrix products with quantized weights and activations.
 *
 * <p>With a weight code w, an activation code a, and the scales and minimums of their groups, a
 * product is {@code fma(sum of w * a in a group, weight scale * activation scale, ...)} over the
 * groups in order, starting from zero, followed by {@code fma(minimum, sum of the group's
 * activations, ...)} over the groups again. Sums within a group are integers, so their order does
 * not matter.
 */
public interface GemmKernels {
  /**
   * Repacks ggml blocks into tiles {@code firstTile} to {@code endTile} of a matrix. The result
   * equals that of {@link QuantizedWeights#setTile} with the unpacked blocks. Different threads may
   * repack different tiles.
   *
   * @param blocks of all rows, one row after another // (rows, columns / 32)
   * @return whether the tiles were written; false if a scale is not finite, or if these kernels do
   *     not implement repacking
   */
  default boolean repack(
      GgmlBlocks kind, MemorySegment blocks, QuantizedWeights matrix, int firstTile, int endTile) {
    return false;
  }

  /** Quantizes rows {@code first} to {@code end}. Different threads may quantize different rows. */
  void quantize(
      QuantizedActivations activations, float[] x, int first, int end); // x: (rows, columns)

  /**
   * {@code out[i][r] = row r of the matrix . row (firstRow + i) of the activations}, for the rows
   * of tiles {@code firstTile} to {@code endTile}, the last of which may be partial.
   *
   * @param firstRow first row of the activations; {@code out.rows} of them are multiplied
   * @param out // (activations, matrix.rows), these rows of an output of all activations that
   *     starts at index 0 of its array
   */
  void products(
      QuantizedWeights matrix,
      int firstTile,
      int endTile,
      QuantizedActivations activations,
      int firstRow,
      RowBlock out,
      TileWorkspace workspace);

  /** Writes rows {@code firstRow} to {@code firstRow + count} of a matrix as floats. */
  void dequantize(QuantizedWeights matrix, int firstRow, int count, float[] out, int outAt);
}
