package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Rows of activations as signed bytes, each group of 32 with its own scale, so that products with
 * coded weights are integer products. A row's codes do not depend on the rows beside it, so a
 * prompt read in one step is multiplied as its tokens would be one by one.
 */
public final class QuantizedActivations {
  /** Columns that share a scale. */
  public static final int GROUP = 32;

  /** Columns that share a sum: the shortest group of weights that has a minimum. */
  public static final int SUM_GROUP = 16;

  /** Below this, 127 divided by a number is near the largest float or infinite. */
  private static final float SMALLEST_QUANTIZED = 1e-36f;

  private int rows;
  private int columns;
  private byte[] codes = {}; // (rows, columns)
  private float[] scales = {}; // (rows, columns / GROUP)
  private int[] codeSums = {}; // (rows, columns / SUM_GROUP)
  private float[] sums = {}; // (rows, columns / SUM_GROUP)
  private Views views = new Views(codes, scales, codeSums, sums);

  /** Makes room for other rows; each of them is to be coded. */
  public void begin(int newRows, int newColumns) {
    if (newColumns % GROUP != 0) {
      throw new IllegalArgumentException(
          "columns is %d; expected a multiple of %d".formatted(newColumns, GROUP));
    }
    rows = newRows;
    columns = newColumns;
    int values = Math.multiplyExact(rows, columns);
    if (codes.length < values) {
      codes = new byte[values];
      scales = new float[values / GROUP];
      codeSums = new int[values / SUM_GROUP];
      sums = new float[values / SUM_GROUP];
      views = new Views(codes, scales, codeSums, sums);
    }
  }

  /**
   * The arrays as segments, for kernels that are no Java: made with the arrays, since one made for
   * a call is garbage wherever the compiler does not see through it.
   */
  public record Views(
      MemorySegment codes, MemorySegment scales, MemorySegment codeSums, MemorySegment sums) {
    private Views(byte[] codes, float[] scales, int[] codeSums, float[] sums) {
      this(
          MemorySegment.ofArray(codes),
          MemorySegment.ofArray(scales),
          MemorySegment.ofArray(codeSums),
          MemorySegment.ofArray(sums));
    }
  }

  public Views views() {
    return views;
  }

  public int rows() {
    return rows;
  }

  public int columns() {
    return columns;
  }

  /** Codes of -127 to 127. */
  public byte[] codes() {
    return codes;
  }

  /** One scale for every {@link #GROUP} columns. */
  public float[] scales() {
    return scales;
  }

  /** The sum of the codes of every {@link #SUM_GROUP} columns. */
  public int[] codeSums() {
    return codeSums;
  }

  /**
   * {@code scale * sum of codes} for every {@link #SUM_GROUP} columns: what a minimum multiplies.
   */
  public float[] sums() {
    return sums;
  }

  /** Where a row's codes begin. */
  public int codesAt(int row) {
    return row * columns;
  }

  /** Where a row's scales begin. */
  public int scalesAt(int row) {
    return row * columns / GROUP;
  }

  /** Where a row's sums begin, of both kinds. */
  public int sumsAt(int row) {
    return row * columns / SUM_GROUP;
  }

  /**
   * Codes the activations of a row and their sums. Rounding is to the nearest, and a group of zeros
   * has scale zero; so has one below 1e-36, whose steps no float can divide by. A group with a
   * number that is not finite has no scale, so that no product hides it.
   */
  public void quantize(int row, float[] x, int at) {
    for (int start = 0; start < columns; start += GROUP) {
      quantizeGroup(x, at + start, row * columns + start);
    }
  }

  private void quantizeGroup(float[] x, int from, int to) {
    float largest = 0;
    for (int i = from; i < from + GROUP; i++) {
      largest = Math.max(largest, Math.abs(x[i]));
    }
    if (!Float.isFinite(largest) || largest < SMALLEST_QUANTIZED) {
      setEmpty(to, Float.isFinite(largest) ? 0 : Float.NaN);
      return;
    }
    float scale = largest / 127;
    float inverse = 127 / largest;
    scales[to / GROUP] = scale;
    for (int half = 0; half < GROUP; half += SUM_GROUP) {
      int sum = 0;
      for (int i = half; i < half + SUM_GROUP; i++) {
        // Adding 128 first makes the truncation a rounding to the nearest, also below zero.
        int code = (int) (x[from + i] * inverse + 128.5f) - 128;
        codes[to + i] = (byte) code;
        sum += code;
      }
      codeSums[(to + half) / SUM_GROUP] = sum;
      sums[(to + half) / SUM_GROUP] = scale * sum;
    }
  }

  private void setEmpty(int to, float scale) {
    scales[to / GROUP] = scale;
    Arrays.fill(codes, to, to + GROUP, (byte) 0);
    Arrays.fill(codeSums, to / SUM_GROUP, (to + GROUP) / SUM_GROUP, 0);
    Arrays.fill(sums, to / SUM_GROUP, (to + GROUP) / SUM_GROUP, scale);
  }
}
