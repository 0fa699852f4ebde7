package dev.kvasir.engine;

import java.util.Arrays;

/**
 * How many tokens of prompts share a step with sequences that wait for their next token, so that
 * the time between two of their tokens is about {@link #MAX_SLOWDOWN} times what it is without
 * prompts.
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
final class PrefillBudget {
  private static final double MAX_SLOWDOWN = 2;
  private static final int DECODE_ONLY_EVERY = 32;
  private static final int MAX_ROWS = 256;

  /** Steps that may do without prompts one after another while some wait to be read. */
  private static final int MAX_STEPS_WITHOUT_PREFILL = 8;

  /** Rows that what a step takes beside its rows is worth, about: what is usual grows with rows. */
  private static final int BASE_ROWS = 3;

  /** Steps without prompts of which the lower quartile is usual: disturbed ones do not count. */
  private static final int HISTORY = 9;

  /** The part of an error that is learned from one step. */
  private static final double GAIN_WHEN_SLOWER = 0.2;

  private static final double GAIN_WHEN_FASTER = 0.05;

  /** Of the usual time, the most that a step's error counts for: a pause says nothing of rows. */
  private static final double MAX_ERROR = 0.5;

  /** Tokens of past that are one unit of attention. */
  private static final double PAST_UNIT = 1024;

  private final double[] decodeNanos =
      new double[HISTORY]; // nanos, by row and base row; the latest
  private final double[] sorted = new double[HISTORY];
  private int next; // place in plain
  private int samples; // steps without prompts, as far as they are remembered
  private int sinceDecodeOnly;
  private int withoutPrefill; // steps without prompts since the last one with some

  private double rowNanos = -1; // that a row adds without its past; below 0 until it is known
  private double pastNanos; // that a unit of a row's past adds

  // The step at hand.
  private int decodingRows;
  private int decoding;
  private double freeShare;
  private double remainingNanos; // for prompts
  private boolean mustProgress; // with one row at least
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
    freeShare = freeProcessors;
    rows = 0;
    pastUnits = 0;
    spentNanos += lateNanos;
    boolean hasRows = waitingRows > 0;
    if (waiting == 0) {
      spentNanos = 0;
      remainingNanos = Double.POSITIVE_INFINITY;
      mustProgress = true;
    } else if (hasRows && (samples == 0 || sinceDecodeOnly >= DECODE_ONLY_EVERY)) {
      remainingNanos = 0;
      mustProgress = false;
    } else {
      boolean hasWaited = withoutPrefill >= MAX_STEPS_WITHOUT_PREFILL;
      remainingNanos = usualNanos() * (MAX_SLOWDOWN * (hasWaited ? 1 : freeShare) - 1) - spentNanos;
      mustProgress = !hasRows || hasWaited || freeShare == 1 && spentNanos == 0;
    }
  }

  /** Rows that a prompt may have in this step after so many tokens that are read. */
  int rowsFor(int past) {
    int most = MAX_ROWS - rows;
    double each = nanosOfRow(past);
    int fitting = remainingNanos <= 0 ? 0 : (int) Math.min(most, remainingNanos / each);
    return rows == 0 && mustProgress ? Math.max(1, fitting) : fitting;
  }

  /** Says that a prompt has so many rows in this step. */
  void add(int count, int past) {
    rows += count;
    pastUnits += count * past / PAST_UNIT;
    remainingNanos -= count * nanosOfRow(past);
  }

  private double nanosOfRow(int past) {
    return Math.max(rowNanos, 0) + pastNanos * past / PAST_UNIT;
  }

  /** Says what the step took that was planned. */
  void recordStep(long nanos) {
    if (decodingRows == 0) {
      spentNanos += decoding == 0 ? 0 : nanos;
      return;
    }
    spentNanos = 0;
    withoutPrefill = rows == 0 ? withoutPrefill + 1 : 0;
    if (freeShare < 1) {
      return; // and says nothing of the next one
    }
    if (rows == 0) {
      recordDecodeStep(nanos / (double) (BASE_ROWS + decodingRows));
    } else {
      sinceDecodeOnly++;
      updateCosts(nanos);
    }
  }

  private void recordDecodeStep(double unitNanos) {
    decodeNanos[next] = unitNanos;
    next = (next + 1) % HISTORY;
    samples = Math.min(samples + 1, HISTORY);
    sinceDecodeOnly = 0;
    if (rowNanos < 0) {
      rowNanos = unitNanos;
    }
  }

  /** Moves what is foretold of these rows towards what they took, by the shortest way. */
  private void updateCosts(long nanos) {
    double usual = usualUnitNanos() * (BASE_ROWS + decodingRows);
    double error = nanos - usual - rows * rowNanos - pastUnits * pastNanos;
    double bounded = Math.clamp(error, -MAX_ERROR * usual, MAX_ERROR * usual);
    double correction = bounded * (error > 0 ? GAIN_WHEN_SLOWER : GAIN_WHEN_FASTER);
    double size = (double) rows * rows + pastUnits * pastUnits;
    rowNanos = Math.max(0, rowNanos + correction * rows / size);
    pastNanos = Math.max(0, pastNanos + correction * pastUnits / size);
  }

  /** Of a step with all that wait, and without prompts. */
  private double usualNanos() {
    return usualUnitNanos() * (BASE_ROWS + decoding);
  }

  private double usualUnitNanos() {
    System.arraycopy(decodeNanos, 0, sorted, 0, samples);
    Arrays.sort(sorted, 0, samples);
    return samples == 0 ? 0 : sorted[samples / 4];
  }
}
