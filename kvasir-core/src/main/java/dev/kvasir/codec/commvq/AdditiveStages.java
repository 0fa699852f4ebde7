package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.page.StageCodes;

/**
 * Vectors as sums: every stage adds one of 64 first rows and one of 64 second rows to what the
 * stages before it left. Which two is a code of 12 bits,
 *
 * <pre>
 * code = a | b &lt;&lt; 6,   centre(a, b) = first[a] + second[b]
 * bits per channel = 12 * stages / length
 * </pre>
 *
 * The nearest of a stage's 4,096 centres is found without making them: {@code |x - centre|^2 =
 * |x|^2 + |centre(a, b)|^2 - 2 x.first[a] - 2 x.second[b]}, whose second term is a table.
 */
public final class AdditiveStages {
  /** First rows of a stage, and second rows. */
  public static final int ROWS = Int8Codebooks.CODEWORDS;

  private static final int INDEX_BITS = StageCodes.INDEX_BITS;
  public static final int CODE_BITS = 2 * INDEX_BITS;

  private final int stages;
  private final int length;
  private final float[] rows; // (stages, 2, ROWS, length)
  private final float[] squares; // (stages, a, b): |centre(a, b)|^2

  /**
   * @param rows (stages, 2, ROWS, length), kept as it is
   */
  public AdditiveStages(int stages, int length, float[] rows) {
    if (rows.length != 2L * stages * ROWS * length) {
      throw new IllegalArgumentException(
          "%d numbers for %d stages of %d channels".formatted(rows.length, stages, length));
    }
    this.stages = stages;
    this.length = length;
    this.rows = rows;
    this.squares = new float[stages * ROWS * ROWS];
    for (int stage = 0; stage < stages; stage++) {
      fillSquares(stage);
    }
  }

  private void fillSquares(int stage) {
    for (int a = 0; a < ROWS; a++) {
      for (int b = 0; b < ROWS; b++) {
        double sum = 0;
        for (int i = 0; i < length; i++) {
          double value = rows[firstAt(stage, a) + i] + rows[secondAt(stage, b) + i];
          sum += value * value;
        }
        squares[squaresAt(stage, a) + b] = (float) sum;
      }
    }
  }

  static short code(int a, int b) {
    return (short) (a | b << INDEX_BITS);
  }

  /** Which first row a code stands for. */
  public static int first(int code) {
    return code & ROWS - 1;
  }

  /** Which second row a code stands for. */
  public static int second(int code) {
    return code >> INDEX_BITS & ROWS - 1;
  }

  public int stages() {
    return stages;
  }

  /** Channels of a vector. */
  public int length() {
    return length;
  }

  /** (stages, 2, ROWS, length), not to be changed. */
  public float[] rows() {
    return rows;
  }

  /** Where a first row begins in {@link #rows}. */
  public int firstAt(int stage, int a) {
    return (2 * stage * ROWS + a) * length;
  }

  /** Where a second row begins in {@link #rows}. */
  public int secondAt(int stage, int b) {
    return ((2 * stage + 1) * ROWS + b) * length;
  }

  long bytes() {
    return (long) Float.BYTES * (rows.length + squares.length);
  }

  float[] squares() {
    return squares;
  }

  /** The squared length of a centre. */
  public float square(int stage, int a, int b) {
    return squares[squaresAt(stage, a) + b];
  }

  int squaresAt(int stage, int a) {
    return (stage * ROWS + a) * ROWS;
  }

  /** Sets {@code out} to the sum that codes stand for: (stages) codes, (length) numbers. */
  public void decode(short[] codes, int at, float[] out, int to) {
    for (int i = 0; i < length; i++) {
      out[to + i] = 0;
    }
    for (int stage = 0; stage < stages; stage++) {
      int first = firstAt(stage, first(codes[at + stage]));
      int second = secondAt(stage, second(codes[at + stage]));
      for (int i = 0; i < length; i++) {
        out[to + i] += rows[first + i] + rows[second + i];
      }
    }
  }
}
