package dev.kvasir.kernel;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Rows of activations as signed bytes with a scale per group of 32 columns, so that products with
 * {@link QuantizedWeights} are integer products. A row's codes do not depend on other rows, so a
 * prompt processed in one step gives the same products as its tokens processed one by one.
 */
public final class QuantizedActivations {
  /** Columns that share a scale. */
  public static final int GROUP = 32;

  /** Columns that share a sum: the shortest group of weights with a minimum. */
  public static final int SUM_GROUP = 16;

  /** Below this, 127 divided by a value is near the largest float or infinite. */
  private static final float SMALLEST_QUANTIZED = 1e-36f;

  private int rows;
  private int columns;
  private byte[] codes = {}; // (rows, columns)
  private float[] scales = {}; // (rows, columns / GROUP)
  private int[] codeSums = {}; // (rows, columns / SUM_GROUP)
  private float[] sums = {}; // (rows, columns / SUM_GROUP)
  private Views views = new Views(codes, scales, codeSums, sums);
  private float[] unquantized = {}; // (rows, columns), of kernels that compute in floats
  private final WordFactors wordFactors = new WordFactors(); // of a single row

  /** Resizes to new dimensions; the caller then quantizes each row. */
  public void begin(int newRows, int newColumns) {
    if (newColumns % GROUP != 0) {
      throw new IllegalArgumentException(
          "columns is %d; expected a multiple of %d".formatted(newColumns, GROUP));
    }
    rows = newRows;
    columns = newColumns;
    wordFactors.clear();
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
   * The arrays as segments, for native kernels. They are created together with the arrays, because
   * a segment created per call becomes garbage wherever the compiler cannot eliminate it.
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

  /** Prepares the only row for products of {@link TileProducts}. */
  void setWordFactors() {
    wordFactors.set(codes, 0, columns);
  }

  WordFactors wordFactors() {
    return wordFactors;
  }

  /** Keeps the rows as they are, for kernels that compute with floats. */
  void setUnquantized(float[] x) {
    unquantized = x;
  }

  /** Returns the rows of {@link #setUnquantized}. */
  float[] unquantized() {
    return unquantized;
  }

  public int rows() {
    return rows;
  }

  public int columns() {
    return columns;
  }

  /** Returns codes from -127 to 127. */
  public byte[] codes() {
    return codes;
  }

  /** Returns one scale per {@link #GROUP} columns. */
  public float[] scales() {
    return scales;
  }

  /**
   * Returns {@code scale * sum of codes} for every {@link #SUM_GROUP} columns, the factor of a
   * minimum.
   */
  public float[] sums() {
    return sums;
  }

  /** Returns the index of a row's first code. */
  public int codesAt(int row) {
    return row * columns;
  }

  /** Returns the index of a row's first scale. */
  public int scalesAt(int row) {
    return row * columns / GROUP;
  }

  /** Returns the index of a row's first sum, in both arrays of sums. */
  public int sumsAt(int row) {
    return row * columns / SUM_GROUP;
  }

  /**
   * Quantizes a row and computes its sums. Codes are rounded to nearest. A group of zeros gets
   * scale zero, and so does a group below 1e-36, where {@code 127 / largest} overflows. A group
   * with a non-finite value gets scale NaN, so that products propagate it.
   */
  public void quantize(int row, float[] x, int at) {
    wordFactors.clear();
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
        // Adding 128 first turns truncation into rounding to nearest, also for negative values.
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
