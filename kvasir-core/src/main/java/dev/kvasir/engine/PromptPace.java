package dev.kvasir.engine;

/**
 * How many tokens of prompts share a step with sequences that wait for their next token, so that
 * these wait little longer than without: about {@link #LONGER} times as long. What steps and rows
 * take is learned from the steps; bits do not depend on it, since a prompt's step gives the same in
 * however many parts.
 */
final class PromptPace {
  private static final double LONGER = 2.2;
  private static final int LEAST_ROWS = 4;
  private static final int MOST_ROWS = 256;

  /** Until a step of each kind has been seen. */
  private static final int FIRST_ROWS = 8;

  private static final double NEWEST_WEIGHT = 0.15;

  private double decodeNanos; // of a step without prompts; 0 if unknown
  private double rowNanos; // of a prompt's row beside others; 0 if unknown

  int rowsBeside() {
    if (decodeNanos == 0 || rowNanos == 0) {
      return FIRST_ROWS;
    }
    double room = decodeNanos * (LONGER - 1) / rowNanos;
    return (int) Math.clamp(room, LEAST_ROWS, MOST_ROWS);
  }

  void took(int decodingRows, int promptRows, long nanos) {
    if (promptRows == 0) {
      decodeNanos = mixed(decodeNanos, nanos);
    } else if (decodingRows > 0 && decodeNanos > 0) {
      double rest = Math.max(nanos * 0.1, nanos - decodeNanos);
      rowNanos = mixed(rowNanos, rest / promptRows);
    }
  }

  private static double mixed(double before, double newest) {
    return before == 0 ? newest : before + NEWEST_WEIGHT * (newest - before);
  }
}
