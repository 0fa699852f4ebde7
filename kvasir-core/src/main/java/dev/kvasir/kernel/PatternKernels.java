package dev.kvasir.kernel;

import dev.kvasir.page.PageSize;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;

/** Products with rows selected by index, and rotation of vectors. */
public interface PatternKernels {
  /**
   * {@code c[i][j] += a[i] . b[rowIndices[j]]}. A sum alternates between x and y of a pair, the
   * order in which {@link #rotatedProducts} computes them.
   *
   * @param a one row after another // (c.rows, 2 * pairs)
   * @param b one row after another // (..., 2 * pairs)
   * @param rowIndices by column of c, from {@code indicesAt} on
   * @param pairs a multiple of 16
   * @param c // (c.rows, selected rows), added to
   */
  void gatheredProducts(
      float[] a, float[] b, int[] rowIndices, int indicesAt, int pairs, RowBlock c);

  /**
   * Rotates vectors in place: {@code (x, y)} becomes {@code (x cos - y sin, y cos + x sin)}, with x
   * in the first half of a vector and y in the second.
   *
   * @param vectors // (count, 2 * pairs)
   * @param pairs a multiple of 16
   * @param cosines // (pairs) from {@code anglesAt} on, as the sines
   */
  void rotate(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt);

  /**
   * Computes the minimum and maximum of {@code x[i] - b[j][i]} over i for each row j. The sign of a
   * zero result is unspecified.
   *
   * @param x // (depth) from {@code at} on
   * @param b one row after another // (count, depth)
   * @param lowest // (count), set, as {@code highest}
   */
  void residualRanges(float[] x, int at, RowBlock b, float[] lowest, float[] highest);

  /**
   * Adds the weights of a page's tokens to the bins of their rows, except for tokens with {@link
   * #NO_ROW}.
   *
   * @param weights // (rows, page tokens)
   * @param bins // (256, stride); the first {@code rows} columns are added to
   * @param indices // (page tokens), bytes from {@code indicesAt} on
   */
  default void scatterAdd(
      float[] weights, int rows, float[] bins, int stride, MemorySegment indices, long indicesAt) {
    for (int token = 0; token < PageSize.TOKENS; token++) {
      int bin = index(indices, indicesAt + token);
      for (int row = 0; row < rows && bin != NO_ROW; row++) {
        bins[bin * stride + row] += weights[row * PageSize.TOKENS + token];
      }
    }
  }

  private static int index(MemorySegment indices, long at) {
    return indices.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
  }

  /**
   * Products of queries with the rows that a page's tokens select, each rotated to its token's
   * position: {@code scores[i][j] += a[i] . b[indices[j]]}. Row j is rotated by {@code j %
   * ROTATION_STRIDE}. Queries are first rotated by the page's angles, then rotated back by {@code
   * ROTATION_STRIDE} after that many tokens.
   *
   * @param a // (aRows, 2 * pairs)
   * @param aRows up to {@link #MAX_ROTATED_QUERIES}
   * @param pageAngles (pairs) cosines and as many sines
   * @param b the rows that tokens select from
   * @param indices // (page tokens), bytes from {@code indicesAt} on
   * @param scores // (aRows, page tokens), added to
   */
  default void rotatedProducts(
      float[] a,
      int aRows,
      RopeAngles pageAngles,
      RotaryPatterns b,
      MemorySegment indices,
      long indicesAt,
      float[] scores) {
    int pairs = b.pairs();
    int width = b.width();
    float[] scratch = b.scratch();
    OffsetAngles offsetAngles = b.offsetAngles();
    System.arraycopy(a, 0, scratch, 0, aRows * width);
    rotate(scratch, 0, aRows, pairs, pageAngles.cosines(), pageAngles.sines(), 0);
    for (int j = 0; j < PageSize.TOKENS; j += ROTATION_STRIDE) {
      for (int i = 0; i < ROTATION_STRIDE; i++) {
        int to = (aRows + i) * width;
        long from = (long) Float.BYTES * width * index(indices, indicesAt + j + i);
        MemorySegment.copy(b.rows(), ValueLayout.JAVA_FLOAT, from, scratch, to, width);
        rotate(scratch, to, 1, pairs, offsetAngles.cosines(), offsetAngles.sines(), i * pairs);
      }
      RowBlock some = b.scores().set(scores, j, PageSize.TOKENS, aRows, ROTATION_STRIDE);
      gatheredProducts(scratch, scratch, IdentityIndices.ROWS, aRows, pairs, some);
      rotate(
          scratch,
          0,
          aRows,
          pairs,
          offsetAngles.cosines(),
          offsetAngles.negatedSines(),
          ROTATION_STRIDE * pairs);
    }
  }

  /** The index of a token without a row. */
  int NO_ROW = 255;

  /** Tokens between two rotations of the queries; a page holds several times as many. */
  int ROTATION_STRIDE = 32;

  /** Maximum number of queries in {@link #rotatedProducts}. */
  int MAX_ROTATED_QUERIES = 8;

  /** Indices that select rows in order. */
  final class IdentityIndices {
    private static final int[] ROWS =
        IntStream.range(0, MAX_ROTATED_QUERIES + ROTATION_STRIDE).toArray();

    private IdentityIndices() {}
  }
}
