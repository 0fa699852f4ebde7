package dev.kvasir.engine;

/**
 * How many tokens of prompts share a step with sequences that wait for their next token, so that
 * these wait little longer than without: about {@link #LONGER} times as long.
 *
 * <p>A step takes {@code base + rows * row}: weights are read once, and each row is multiplied. So
 * with d rows that decode, prompts may have {@code (LONGER - 1) * (base / row + d)} rows. What the
 * base is worth in rows is learned from short and long steps, and how much longer steps with
 * prompts take than that: rows of a prompt that is long already attend to more. Bits do not depend
 * on any of it, since a prompt's step gives the same in however many parts.
 */
final class PromptPace {
  private static final double LONGER = 2.2;
  private static final int MOST_ROWS = 256;

  /** Steps of so few rows tell the base, and of so many what a row takes. */
  private static final int FEW = 2;

  private static final int MANY = 64;

  private static final double LEAST_BASE = 3;
  private static final double MOST_BASE = 64;

  private static final double NEWEST_WEIGHT = 0.1;

  /** A step during which the machine did something else tells little. */
  private static final double MOST_SURPRISE = 2;

  private double shortNanos; // of a step of few rows; 0 if unknown
  private double rowNanos; // of a row of many; 0 if unknown
  private double longer = 1; // that steps with prompts take, of what is expected

  /**
   * @param decoding sequences that wait for their next token
   */
  int rowsBeside(int decoding) {
    double rows = (LONGER - 1) * (base() + decoding) / Math.max(1, longer);
    return (int) Math.clamp(Math.ceil(rows), 1, MOST_ROWS);
  }

  private double base() {
    boolean known = shortNanos > 0 && rowNanos > 0;
    return known ? Math.clamp(shortNanos / rowNanos - 1, LEAST_BASE, MOST_BASE) : LEAST_BASE;
  }

  /**
   * @param decoding sequences that waited for their next token
   */
  void took(int rows, int decoding, long nanos) {
    if (rows <= FEW) {
      shortNanos = mixed(shortNanos, nanos);
    } else if (rows >= MANY && decoding == 0) {
      rowNanos = mixed(rowNanos, nanos / (double) rows);
    }
    if (decoding > 0 && rows > decoding && rowNanos > 0) {
      longer = mixed(longer, nanos / (rowNanos * (base() + rows)));
    }
  }

  private static double mixed(double before, double newest) {
    double seen = before == 0 ? newest : Math.min(newest, MOST_SURPRISE * before);
    return before == 0 ? seen : before + NEWEST_WEIGHT * (seen - before);
  }
}
