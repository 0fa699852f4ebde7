package dev.kvasir.kernel;

import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.page.PlaneLayout;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The arithmetic of the engine. Every method works on plain arrays and segments, allocates nothing,
 * and may be called from any number of threads on different outputs. {@link ScalarKernels} says
 * what each one means, to the last bit; other implementations only do it faster.
 */
public interface Kernels {
  /** A short name for people: what it runs on and how wide. */
  String name();

  /**
   * For people: which arithmetic serves for what, and why, a line each. May take seconds where that
   * has to be found out.
   */
  default List<String> report() {
    return List.of();
  }

  /** Packed bits are being expanded for a prompt: tokens after it will look up on them. */
  default void expectLookups() {}

  /** Makes {@code row} ready for products with codes of that width. */
  void prepare(CodedRow row, float[] x, int at, int columns, int codeBits);

  /**
   * {@code out[outAt + r - firstTile * 16] = row r of the matrix . row}, for the rows of tiles
   * {@code firstTile} to {@code endTile}, the last of which may be partial.
   *
   * @param row prepared for the matrix's width
   */
  void codedProduct(
      CodedMatrix matrix, int firstTile, int endTile, CodedRow row, float[] out, int outAt);

  /** Rows {@code firstRow} to {@code firstRow + count} of a matrix as floats. */
  void expand(Matrix matrix, int firstRow, int count, float[] out, int outAt);

  /**
   * {@code c[i][j] = a[i] . b[j]}: both operands row by row, so that a dot product reads memory in
   * order.
   */
  void products(
      float[] a,
      int aAt,
      int aStride,
      int aRows, // (aRows, depth)
      float[] b,
      int bAt,
      int bStride,
      int bRows, // (bRows, depth)
      int depth,
      float[] c,
      int cAt,
      int cStride); // (aRows, bRows)

  /** {@code out[i] += sum over t of weights[i][t] * v[t]}. */
  void weightedSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows, // (rows, tokens)
      float[] v,
      int vAt,
      int vStride,
      int tokens, // (tokens, length)
      int length,
      float[] out,
      int outAt,
      int outStride); // (rows, length)

  /**
   * {@code c[i][j] += a[i] . b[picked[j]]}, for rows that are picked by number.
   *
   * @param depth a multiple of 16
   */
  void pickedProducts(
      float[] a,
      int aRows, // (aRows, depth)
      float[] b, // (..., depth)
      int[] picked,
      int pickedAt,
      int count,
      int depth,
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
   * Takes the codes of a page apart; {@link dev.kvasir.page.StageCodes} says where they lie.
   *
   * @param indices // (stages, 2, page tokens), set
   */
  void unpackStages(MemorySegment source, long offset, int stages, byte[] indices);

  /**
   * Adds up the rows that tokens have picked, one of each set.
   *
   * @param indices // (sets, page tokens)
   * @param sums // (tokens, x and y, pairs), set
   */
  void rowSums(FixedRows rows, byte[] indices, int tokens, short[] sums);

  /**
   * Makes vectors of sums and turns the i-th token's by the i-th row of angles.
   *
   * @param sums // (tokens, x and y, pairs)
   * @param scales // (tokens)
   * @param cosines // (tokens, pairs), as the sines
   * @param out // (tokens, x and y, pairs), set
   */
  void turnedSums(
      short[] sums,
      int tokens,
      FixedRows rows,
      float[] scales,
      float[] cosines,
      float[] sines,
      float[] out);

  /**
   * Adds up the rows of floats that tokens have picked, one of each set.
   *
   * @param rows // (sets, {@link FixedRows#ROWS}, width) from {@code at} on
   * @param indices // (sets, page tokens)
   * @param sums // (tokens, width), set
   */
  void pickedSums(
      float[] rows, int at, byte[] indices, int sets, int tokens, int width, float[] sums);

  /** {@code out[i] = a[i] . b[i]}. // (count, width) */
  void rowProducts(float[] a, float[] b, int count, int width, float[] out);

  /**
   * Adds the weights of tokens to the bins that they have picked, one of each set.
   *
   * @param indices // (sets, page tokens)
   * @param weights // (tokens, lanes)
   * @param lanes a multiple of 4
   * @param bins // (sets, {@link FixedRows#ROWS}, lanes), added to
   */
  void collect(byte[] indices, int sets, int tokens, float[] weights, int lanes, float[] bins);

  /**
   * Makes queries ready for products with rows of that precision.
   *
   * @param a (rows, columns), below 2^15 in magnitude where the precision is F16
   * @param precision F16 or BF16
   */
  void prepare(HalfQueries queries, float[] a, int at, int rows, int columns, Precision precision);

  /**
   * {@code c[i][j] = query i . row (firstRow + j)}, for rows of 16-bit floats, which are not
   * expanded to memory first.
   *
   * @param queries prepared for the precision of the rows
   */
  void halfProducts(
      HalfQueries queries,
      DenseMatrix b,
      int firstRow,
      int bRows,
      float[] c,
      int cAt,
      int cStride); // (queries, bRows)

  /**
   * {@code out[i] += sum over t of weights[i][t] * row (firstRow + t)}, for a few rows of weights.
   *
   * @param v F16 or BF16
   */
  void halfSums(
      float[] weights,
      int weightsAt,
      int weightsStride,
      int rows, // (rows, tokens)
      DenseMatrix v,
      int firstRow,
      int tokens,
      float[] out,
      int outAt,
      int outStride); // (rows, columns)

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

  /** Half-precision values to floats. */
  void expandHalf(MemorySegment source, long offset, float[] out, int outAt, int count);

  float maximum(float[] x, int at, int count);

  /** {@code x = exp(x - shift)}; answers their sum. */
  float exponentiate(float[] x, int at, int count, float shift);

  /** {@code out = x / rms(x) * weight}. */
  void rmsNorm(float[] x, int at, float[] weight, float epsilon, float[] out, int outAt, int count);

  /** {@code gate = silu(gate) * up}. */
  void gatedSilu(float[] gate, float[] up, int at, int count);

  /** {@code x += y}. */
  void add(float[] x, int at, float[] y, int yAt, int count);

  /** {@code out = x * y}, value by value. */
  void multiply(float[] x, int at, float[] y, int yAt, float[] out, int outAt, int count);

  /** {@code x *= factor}. */
  void scale(float[] x, int at, int count, float factor);

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
   * a page with codes of several widths is the sum of its blocks.
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
}
