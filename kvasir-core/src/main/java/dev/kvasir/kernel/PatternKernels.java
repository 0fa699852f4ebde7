package dev.kvasir.kernel;

import dev.kvasir.page.PageSize;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.stream.IntStream;

/** Rows that are picked by number, and vectors that turn. */
public interface PatternKernels {
  /**
   * {@code c[i][j] += a[i] . b[picked[j]]}, for rows that are picked by number. A sum takes x and y
   * of a pair in turn, as {@link #rotatedProducts} meets them.
   *
   * @param a one row after another // (c.rows, 2 * pairs)
   * @param b one row after another // (..., 2 * pairs)
   * @param picked by column of c, from {@code pickedAt} on
   * @param pairs a multiple of 16
   * @param c // (c.rows, rows that are picked), added to
   */
  void gatheredProducts(float[] a, float[] b, int[] picked, int pickedAt, int pairs, RowBlock c);

  /**
   * Turns vectors in place: {@code (x, y)} becomes {@code (x cos - y sin, y cos + x sin)}, with x
   * in the first half of a vector and y in the second.
   *
   * @param vectors // (count, 2 * pairs)
   * @param pairs a multiple of 16
   * @param cosines // (pairs) from {@code anglesAt} on, as the sines
   */
  void rotate(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt);

  /**
   * What a vector leaves of rows at the least and at the most, {@code x[i] - b[j][i]} over i; of
   * zeros of two signs either may be it.
   *
   * @param x // (depth) from {@code at} on
   * @param b one row after another // (count, depth)
   * @param least // (count), set, as the most
   */
  void residualRanges(float[] x, int at, RowBlock b, float[] lowest, float[] highest);

  /**
   * Adds the weights of a page's tokens to the bins that they have picked; those with {@link
   * #NO_ROW} have picked none.
   *
   * @param weights // (rows, page tokens)
   * @param bins // (256, stride), of which the first {@code rows} columns are added to
   * @param indices // (page tokens), bytes from {@code indicesAt} on
   */
  default void scatterAdd(
      float[] weights, int rows, float[] bins, int stride, MemorySegment indices, long indicesAt) {
    for (int token = 0; token < PageSize.TOKENS; token++) {
      int picked = index(indices, indicesAt + token);
      for (int row = 0; row < rows && picked != NO_ROW; row++) {
        bins[picked * stride + row] += weights[row * PageSize.TOKENS + token];
      }
    }
  }

  private static int index(MemorySegment indices, long at) {
    return indices.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
  }

  /**
   * Products of queries with the rows that a page's tokens have picked, which turn with their
   * places: {@code scores[i][j] += a[i] . b[indices[j]]}, where the j-th row is turned by {@code j
   * % FAN}. Queries are turned by the page's angles first, and back by {@code FAN} after as many
   * products.
   *
   * @param a // (aRows, 2 * pairs)
   * @param aRows up to {@link #MOST_TURNING}
   * @param page (pairs) cosines and as many sines
   * @param b what tokens pick from
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

  /** The index of a token that has picked nothing. */
  int NO_ROW = 255;

  /** Rows that are picked between two turns of the queries; a page has several times as many. */
  int ROTATION_STRIDE = 32;

  /** Queries that turn, at the most. */
  int MAX_ROTATED_QUERIES = 8;

  /** Picks rows as they lie. */
  final class IdentityIndices {
    private static final int[] ROWS =
        IntStream.range(0, MAX_ROTATED_QUERIES + ROTATION_STRIDE).toArray();

    private IdentityIndices() {}
  }
}
