package dev.kvasir.codec.commvq;

import dev.kvasir.kernel.Int8Codebooks;
import dev.kvasir.page.StageCodes;
import java.util.Arrays;

/**
 * Additive codebooks: every stage adds one of its first rows and one of its second rows, to
 * approximate the residual of the previous stages. A set of first or second rows has 64 rows, of
 * which the search uses the first {@code used}; the others are zero. A code selects the two rows,
 *
 * <pre>
 * code = a | b &lt;&lt; 6,   centre(a, b) = first[a] + second[b]
 * bits per channel = 2 * log2(used) * stages / length
 * </pre>
 *
 * The nearest of a stage's 4,096 centers is found without computing them: {@code |x - centre|^2 =
 * |x|^2 + |centre(a, b)|^2 - 2 x.first[a] - 2 x.second[b]}, where the second term is tabulated.
 */
public final class AdditiveStages {
  /** Number of first rows, and of second rows, of a stage. */
  public static final int ROWS = Int8Codebooks.CODEWORDS;

  private static final int INDEX_BITS = StageCodes.INDEX_BITS;
  public static final int CODE_BITS = 2 * INDEX_BITS;

  private final int stages;
  private final int length;
  private final int used;
  private final float[] rows; // (stages, 2, ROWS, length)
  private final float[] squares; // (stages, a, b): |centre(a, b)|^2, infinite beyond used rows

  /** Creates stages that use all their rows. */
  public AdditiveStages(int stages, int length, float[] rows) {
    this(stages, length, ROWS, rows);
  }

  /**
   * Creates stages.
   *
   * @param used rows of a set that codes may select; the others are zero
   * @param rows (stages, 2, ROWS, length), not copied
   */
  public AdditiveStages(int stages, int length, int used, float[] rows) {
    if (rows.length != 2L * stages * ROWS * length) {
      throw new IllegalArgumentException(
          "%d numbers for %d stages of %d channels".formatted(rows.length, stages, length));
    }
    if (used < 1 || used > ROWS) {
      throw new IllegalArgumentException(
          "%d used rows of a set; expected 1 to %d".formatted(used, ROWS));
    }
    this.stages = stages;
    this.length = length;
    this.used = used;
    this.rows = rows;
    this.squares = new float[stages * ROWS * ROWS];
    for (int stage = 0; stage < stages; stage++) {
      fillSquares(stage);
    }
  }

  private void fillSquares(int stage) {
    if (used < ROWS) {
      int from = squaresAt(stage, 0);
      Arrays.fill(squares, from, from + ROWS * ROWS, Float.POSITIVE_INFINITY);
    }
    for (int a = 0; a < used; a++) {
      int first = firstAt(stage, a);
      for (int b = 0; b < used; b++) {
        int second = secondAt(stage, b);
        double sum = 0;
        for (int i = 0; i < length; i++) {
          double value = rows[first + i] + rows[second + i];
          sum += value * value;
        }
        squares[squaresAt(stage, a) + b] = (float) sum;
      }
    }
  }

  static short code(int a, int b) {
    return (short) (a | b << INDEX_BITS);
  }

  /** Returns the index of a code's first row. */
  public static int first(int code) {
    return code & ROWS - 1;
  }

  /** Returns the index of a code's second row. */
  public static int second(int code) {
    return code >> INDEX_BITS & ROWS - 1;
  }

  public int stages() {
    return stages;
  }

  /** Returns the channels of a vector. */
  public int length() {
    return length;
  }

  /** Returns the rows of a set that codes may select. */
  public int used() {
    return used;
  }

  /** Returns the bits of the index of a used row. */
  public int indexBits() {
    return Integer.SIZE - Integer.numberOfLeadingZeros(used - 1);
  }

  /** Returns the rows (stages, 2, ROWS, length), not to be modified. */
  public float[] rows() {
    return rows;
  }

  /** Returns the offset of a first row in {@link #rows}. */
  public int firstAt(int stage, int a) {
    return (2 * stage * ROWS + a) * length;
  }

  /** Returns the offset of a second row in {@link #rows}. */
  public int secondAt(int stage, int b) {
    return ((2 * stage + 1) * ROWS + b) * length;
  }

  long bytes() {
    return (long) Float.BYTES * (rows.length + squares.length);
  }

  float[] squares() {
    return squares;
  }

  /** Returns the squared norm of a center. */
  public float square(int stage, int a, int b) {
    return squares[squaresAt(stage, a) + b];
  }

  int squaresAt(int stage, int a) {
    return (stage * ROWS + a) * ROWS;
  }

  /** Sets {@code out} to the sum of the coded rows: (stages) codes, (length) numbers. */
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
