package dev.kvasir.kernel;

/**
 * Products with weights that are integer codes of one width. What one of these has prepared, the
 * same one multiplies.
 */
public interface CodedKernels {
  /** Makes {@code row} ready for products with codes of this width. */
  void prepare(CodedRow row, float[] x, int at, int columns);

  /**
   * {@code out[outAt + r - firstTile * 16] = row r of the matrix . row}, for the rows of tiles
   * {@code firstTile} to {@code endTile}, the last of which may be partial.
   *
   * @param row prepared for the matrix's width
   */
  void product(
      CodedMatrix matrix, int firstTile, int endTile, CodedRow row, float[] out, int outAt);

  /** Rows {@code firstRow} to {@code firstRow + count} of a matrix as floats. */
  void expand(CodedMatrix matrix, int firstRow, int count, float[] out, int outAt);
}
