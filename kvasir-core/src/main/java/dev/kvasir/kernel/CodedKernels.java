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
public interface CodedKernels {
  /**
   * Lays down tiles {@code firstTile} to {@code endTile} of a matrix, as {@link
   * CodedMatrix#setTile} does with what blocks unpack to; different tiles may be laid by different
   * threads.
   *
   * @param blocks of all rows, one row after another // (rows, columns / 32)
   * @return whether they lie there; not so where a scale is not finite, or where these kernels
   *     leave it to others
   */
  default boolean lay(
      StoredBlocks kind, MemorySegment blocks, CodedMatrix matrix, int firstTile, int endTile) {
    return false;
  }

  /** Codes rows {@code first} to {@code end}; different rows may be prepared by several threads. */
  void prepare(CodedRows rows, float[] x, int first, int end); // x: (rows, columns)

  /**
   * {@code out[i][r] = row r of the matrix . row (firstRow + i) of the activations}, for the rows
   * of tiles {@code firstTile} to {@code endTile}, the last of which may be partial.
   *
   * @param firstRow of the activations, as many of which are taken as {@code out} has rows
   * @param out // (activations, matrix.rows), where they lie in an output of all activations that
   *     begins with its array
   */
  void products(
      CodedMatrix matrix,
      int firstTile,
      int endTile,
      CodedRows rows,
      int firstRow,
      RowBlock out,
      TileRoom room);

  /** Rows {@code firstRow} to {@code firstRow + count} of a matrix as floats. */
  void expand(CodedMatrix matrix, int firstRow, int count, float[] out, int outAt);
}
