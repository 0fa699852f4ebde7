package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;

/** Vectors of tokens whose channels have codes of different widths. */
public interface RowCodeKernels {
  /**
   * Makes vectors of rows of codes, each on top of a row of a table: {@code (m * half) * scale +
   * base} with the last two operations in one, m the whole number that a code stands for, and
   * {@code base = nibble * step + low} in one operation as well.
   *
   * @param source rows one after another from {@code offset} on, with {@link RowCodes#BYTES_BEHIND}
   *     readable bytes behind the last one
   * @param tokens which token each row belongs to, from {@code from} on
   * @param picked by token, its row of the table
   * @param out (tokens, width): those of the rows are set
   */
  void decode(
      MemorySegment source,
      long offset,
      RowCodes codes,
      byte[] tokens,
      int from,
      int count,
      NibbleRows base,
      int[] picked,
      float[] out);

  /**
   * Rows of a table of halves, one for each token.
   *
   * @param source (rows, stride) from {@code offset} bytes on
   * @param picked by token
   * @param out (count, width), set
   */
  void gather(
      MemorySegment source,
      long offset,
      int stride,
      int[] picked,
      int count,
      int width,
      float[] out);

  /**
   * Turns rows in place, the i-th one by the i-th row of angles.
   *
   * @param rows (count, x and y, pairs)
   * @param cosines (count, pairs), as the sines
   */
  void turnEach(float[] rows, int count, int pairs, float[] cosines, float[] sines);
}
