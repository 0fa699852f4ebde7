package dev.kvasir.engine;

import java.util.Arrays;

/**
 * How many tokens of prompts share a step with sequences that wait for their next token, so that
 * the time between two of their tokens is about {@link #LONGER} times what it is without prompts.
 *
 * <p>What is usual is seen in steps without prompts; where prompts never end, one in {@link
 * #PLAIN_EVERY} does without them. What a row of a prompt adds to that is a sum
 *
 * <pre>
 * products with weights, the same for all rows  +  attention, in proportion to the row's past
 * </pre>
 *
 * of which both parts are learned from what steps took: they depend on the model, the kind of
 * cache, and what else the machine does. Longer steps than foretold teach faster than shorter ones,
 * since a late token is noticed and a prompt that could have been a little sooner is not.
 *
 * <p>Bits do not depend on any of it, since a prompt's step gives the same in however many parts.
 */
final class PromptPace {
  private static final double LONGER = 2;
  private static final int PLAIN_EVERY = 32;
  private static final int MOST_ROWS = 256;

  /** Steps that may do without prompts one after another while some wait to be read. */
  private static final int MOST_WITHOUT = 8;

  /** Rows that what a step takes beside its rows is worth, about: what is usual grows with rows. */
  private static final int BASE_ROWS = 3;

  /** Steps without prompts of which the lower quartile is usual: disturbed ones do not count. */
  private static final int REMEMBERED = 9;

  /** The part of an error that is learned from one step. */
  private static final double LEARNED_OF_LONGER = 0.2;

  private static final double LEARNED_OF_SHORTER = 0.05;

  /** Of the usual time, the most that a step's error counts for: a pause says nothing of rows. */
  private static final double MOST_ERROR = 0.5;

  /** Tokens of past that are one unit of attention. */
  private static final double PAST_UNIT = 1024;

  private final double[] plain = new double[REMEMBERED]; // nanos, by row and base row; the latest
  private final double[] sorted = new double[REMEMBERED];
  private int next; // place in plain
  private int seen; // steps without prompts, as far as they are remembered
  private int sincePlain;
  private int without; // steps without prompts since the last one with some

  private double rowNanos = -1; // that a row adds without its past; below 0 until it is known
  private double pastNanos; // that a unit of a row's past adds

  // The step at hand.
  private int decodingRows;
  private int decoding;
  private double freePart;
  private double leftNanos; // for prompts
  private boolean mustGoOn; // with one row at least
  private int rows;
  private double pastUnits; // of all rows

  private double spentNanos; // since the last step with rows that wait for a token

  /**
   * Begins to plan a step.
   *
   * @param waiting sequences that wait for their next token, or are being told one
   * @param waitingRows of those, rows in this step
   * @param lateNanos that one of them is late already
   * @param freeProcessors the part of the processors that nobody else has work for
   */
  void plan(int waiting, int waitingRows, long lateNanos, double freeProcessors) {
    decoding = waiting;
    decodingRows = waitingRows;
    freePart = freeProcessors;
    rows = 0;
    pastUnits = 0;
    spentNanos += lateNanos;
    boolean hasRows = waitingRows > 0;
    if (waiting == 0) {
      spentNanos = 0;
      leftNanos = Double.POSITIVE_INFINITY;
      mustGoOn = true;
    } else if (hasRows && (seen == 0 || sincePlain >= PLAIN_EVERY)) {
      leftNanos = 0;
      mustGoOn = false;
    } else {
      boolean hasWaited = without >= MOST_WITHOUT;
      leftNanos = usual() * (LONGER * (hasWaited ? 1 : freePart) - 1) - spentNanos;
      mustGoOn = !hasRows || hasWaited || freePart == 1 && spentNanos == 0;
    }
  }

  /** Rows that a prompt may have in this step after so many tokens that are read. */
  int rowsAfter(int past) {
    int most = MOST_ROWS - rows;
    double each = nanosOfRow(past);
    int fitting = leftNanos <= 0 ? 0 : (int) Math.min(most, leftNanos / each);
    return rows == 0 && mustGoOn ? Math.max(1, fitting) : fitting;
  }

  /** Says that a prompt has so many rows in this step. */
  void add(int count, int past) {
    rows += count;
    pastUnits += count * past / PAST_UNIT;
    leftNanos -= count * nanosOfRow(past);
  }

  private double nanosOfRow(int past) {
    return Math.max(rowNanos, 0) + pastNanos * past / PAST_UNIT;
  }

  /** Says what the step took that was planned. */
  void took(long nanos) {
    if (decodingRows == 0) {
      spentNanos += decoding == 0 ? 0 : nanos;
      return;
    }
    spentNanos = 0;
    without = rows == 0 ? without + 1 : 0;
    if (freePart < 1) {
      return; // and says nothing of the next one
    }
    if (rows == 0) {
      remember(nanos / (double) (BASE_ROWS + decodingRows));
    } else {
      sincePlain++;
      learn(nanos);
    }
  }

  private void remember(double unitNanos) {
    plain[next] = unitNanos;
    next = (next + 1) % REMEMBERED;
    seen = Math.min(seen + 1, REMEMBERED);
    sincePlain = 0;
    if (rowNanos < 0) {
      rowNanos = unitNanos;
    }
  }

  /** Moves what is foretold of these rows towards what they took, by the shortest way. */
  private void learn(long nanos) {
    double usual = usualUnit() * (BASE_ROWS + decodingRows);
    double error = nanos - usual - rows * rowNanos - pastUnits * pastNanos;
    double bounded = Math.clamp(error, -MOST_ERROR * usual, MOST_ERROR * usual);
    double learned = bounded * (error > 0 ? LEARNED_OF_LONGER : LEARNED_OF_SHORTER);
    double size = (double) rows * rows + pastUnits * pastUnits;
    rowNanos = Math.max(0, rowNanos + learned * rows / size);
    pastNanos = Math.max(0, pastNanos + learned * pastUnits / size);
  }

  /** Of a step with all that wait, and without prompts. */
  private double usual() {
    return usualUnit() * (BASE_ROWS + decoding);
  }

  private double usualUnit() {
    System.arraycopy(plain, 0, sorted, 0, seen);
    Arrays.sort(sorted, 0, seen);
    return seen == 0 ? 0 : sorted[seen / 4];
  }
}
