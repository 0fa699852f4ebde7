package dev.kvasir.kernel;

import dev.kvasir.page.PageSize;
import java.util.stream.IntStream;

/** Rows that are picked by number, and vectors that turn. */
public interface PatternKernels {
  /**
   * {@code c[i][j] += a[i] . b[picked[j]]}, for rows that are picked by number. A sum takes x and y
   * of a pair in turn, as {@link #turningProducts} meets them.
   *
   * @param pairs a multiple of 16
   */
  void pickedProducts(
      float[] a,
      int aRows, // (aRows, 2 * pairs)
      float[] b, // (..., 2 * pairs)
      int[] picked,
      int pickedAt,
      int count,
      int pairs,
      float[] c,
      int cAt,
      int cStride); // (aRows, count)

  /**
   * Turns vectors in place: {@code (x, y)} becomes {@code (x cos - y sin, y cos + x sin)}, with x
   * in the first half of a vector and y in the second.
   *
   * @param vectors // (count, 2 * pairs)
   * @param pairs a multiple of 16
   * @param cosines // (pairs) from {@code anglesAt} on, as the sines
   */
  void turn(
      float[] vectors, int at, int count, int pairs, float[] cosines, float[] sines, int anglesAt);

  /**
   * What a vector leaves of rows at the least and at the most, {@code x[i] - b[j][i]} over i; of
   * zeros of two signs either may be it.
   *
   * @param x // (depth) from {@code at} on
   * @param b // (count, depth) from {@code bAt} on
   * @param least // (count), set, as the most
   */
  void spans(
      float[] x, int at, float[] b, int bAt, int count, int depth, float[] least, float[] most);

  /**
   * Adds the weights of a page's tokens to the bins that they have picked.
   *
   * @param indices bins // (page tokens)
   * @param weights // (rows, page tokens)
   * @param bins // (256, stride), of which the first {@code rows} columns are added to
   */
  default void collect(byte[] indices, float[] weights, int rows, float[] bins, int stride) {
    for (int row = 0; row < rows; row++) {
      for (int token = 0; token < PageSize.TOKENS; token++) {
        int bin = (indices[token] & 0xFF) * stride + row;
        bins[bin] += weights[row * PageSize.TOKENS + token];
      }
    }
  }

  /**
   * Products of queries with picked rows that turn with their places: {@code c[i][j] += a[i] .
   * b[picked[j]]}, where the j-th row is turned by {@code j % fan} and a is turned back by {@code
   * fan} after as many products, in place.
   *
   * @param a // (aRows, 2 * pairs)
   * @param b // (..., 2 * pairs)
   * @param fan up to {@link #MOST_FAN}
   * @param cosines // (fan + 1, pairs), as the sines and what turns back
   * @param room {@link #turningRoom} floats
   * @param c // (aRows, count), rows {@code cStride} apart
   */
  default void turningProducts(
      float[] a,
      int aRows,
      float[] b,
      int[] picked,
      int count,
      int fan,
      int pairs,
      float[] cosines,
      float[] sines,
      float[] backSines,
      float[] room,
      float[] c,
      int cStride) {
    int width = 2 * pairs;
    for (int j = 0; j < count; j += fan) {
      int some = Math.min(fan, count - j);
      for (int i = 0; i < some; i++) {
        System.arraycopy(b, picked[j + i] * width, room, i * width, width);
        turn(room, i * width, 1, pairs, cosines, sines, i * pairs);
      }
      pickedProducts(a, aRows, room, InOrder.ROWS, 0, some, pairs, c, j, cStride);
      turn(a, 0, aRows, pairs, cosines, backSines, fan * pairs);
    }
  }

  /** Rows that are turned before they are multiplied, at the most. */
  int MOST_FAN = 32;

  /** Floats of room for {@link #turningProducts}, where rows are turned before they are met. */
  static int turningRoom(int fan, int pairs) {
    return 2 * fan * pairs;
  }

  /** Picks rows as they lie. */
  final class InOrder {
    private static final int[] ROWS = IntStream.range(0, MOST_FAN).toArray();

    private InOrder() {}
  }
}
