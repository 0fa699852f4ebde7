package dev.kvasir.engine;

import java.util.Arrays;

/**
 * Limits the prompt tokens that share a step with decoding requests (chunked prefill), so that one
 * in a hundred steps takes more than {@link #TAIL_SLOWDOWN} times as long as usual.
 *
 * <p>The slowdown that a step is planned for follows from that: it falls with each step beyond the
 * limit and grows with the others. Where steps take as long as estimated, prompts get more rows
 * than on a machine with other work.
 *
 * <p>The usual time is measured in steps without prompt rows. If there are always prompts, one in
 * {@link #DECODE_ONLY_EVERY} steps runs without them. A prompt row adds
 *
 * <pre>
 * products with weights, the same for all rows  +  attention, in proportion to the row's past
 * </pre>
 *
 * Both costs are estimated from measured steps: they depend on the model, the cache, and the load
 * of the machine. Kernels multiply {@link StepCosts#ROWS_TOGETHER} rows at a time, so a step gets a
 * multiple of that where it can: more rows in the same time, which the estimates fit better.
 *
 * <p>Results do not depend on the budget, since a prefill step gives the same bits however it is
 * chunked.
 */
final class PrefillBudget {
  /** The time of a step that one in a hundred may exceed, in usual times. */
  private static final double TAIL_SLOWDOWN = 2.5;

  /** A step beyond this is a pause, whatever its rows are. */
  private static final double PAUSE_SLOWDOWN = 5;

  /** Bounds of the slowdown that steps are planned for. */
  private static final double MIN_SLOWDOWN = 1.5;

  private static final double MAX_SLOWDOWN = 2;

  /** What a step beyond the limit takes from the planned slowdown; others give it back. */
  private static final double SLOWDOWN_STEP = 0.05;

  private static final double SLOWDOWN_GROWTH = SLOWDOWN_STEP / 99;
  private static final int DECODE_ONLY_EVERY = 32;
  private static final int MAX_ROWS = 256;

  /** Maximum consecutive steps without prompt rows while prompts wait. */
  private static final int MAX_STEPS_WITHOUT_PREFILL = 8;

  /** The fixed cost of a step, in rows: the usual time grows with the number of rows. */
  private static final int BASE_ROWS = 3;

  /**
   * Decode-only steps that are remembered; their lower quartile is usual, which ignores disturbed
   * ones.
   */
  private static final int HISTORY = 9;

  /** Decode-only steps before prompts join, since a single one may have been disturbed. */
  private static final int MIN_SAMPLES = 3;

  /** The share of an error that corrects the estimates after one step. */
  private static final double GAIN = 0.1;

  /** Maximum error of a step, as a share of the usual time: a pause says nothing about rows. */
  private static final double MAX_ERROR = 0.5;

  /** Past tokens per unit of attention cost. */
  private static final double PAST_UNIT = 1024;

  private final double[] decodeNanos =
      new double[HISTORY]; // nanos per row and base row, a ring buffer
  private final double[] sorted = new double[HISTORY];
  private int next; // index into decodeNanos
  private int samples; // valid entries of decodeNanos
  private int sinceDecodeOnly;
  private int withoutPrefill; // steps since the last one with prompt rows

  private double slowdown = MAX_SLOWDOWN; // that steps are planned for
  private double rowNanos = -1; // cost of a row without its past; below 0 until known
  private double pastNanos; // cost of a unit of a row's past

  // The current step.
  private int decodingRows;
  private int decoding;
  private double freeShare;
  private double remainingNanos; // for prompts
  private boolean mustProgress; // with at least one row
  private int rows;
  private double pastUnits; // of all rows

  private double spentNanos; // since the last step with decode rows

  /**
   * Starts to plan a step.
   *
   * @param waiting requests that wait for their next token, or are reporting one
   * @param waitingRows their rows in this step
   * @param lateNanos delay that one of them already has
   * @param freeProcessors share of the processors without other work
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
    } else if (hasRows && (samples < MIN_SAMPLES || sinceDecodeOnly >= DECODE_ONLY_EVERY)) {
      remainingNanos = 0;
      mustProgress = false;
    } else {
      boolean hasWaited = withoutPrefill >= MAX_STEPS_WITHOUT_PREFILL;
      double ownNanos = hasRows ? 0 : usualUnitNanos() * BASE_ROWS; // of a step of its own
      remainingNanos =
          usualNanos() * (slowdown * (hasWaited ? 1 : freeShare) - 1) - ownNanos - spentNanos;
      mustProgress = !hasRows || hasWaited || freeShare == 1 && spentNanos == 0;
    }
  }

  /** Returns how many rows a prompt with {@code past} cached tokens may have in this step. */
  int rowsFor(int past) {
    int maxRows = MAX_ROWS - rows;
    double each = nanosOfRow(past);
    int fitting = remainingNanos <= 0 ? 0 : (int) Math.min(maxRows, remainingNanos / each);
    int aligned = fitting - (decodingRows + rows + fitting) % StepCosts.ROWS_TOGETHER;
    return rows == 0 && mustProgress && aligned < 1 ? Math.max(1, fitting) : Math.max(0, aligned);
  }

  /** Adds {@code count} rows of a prompt to this step. */
  void add(int count, int past) {
    rows += count;
    pastUnits += count * past / PAST_UNIT;
    remainingNanos -= count * nanosOfRow(past);
  }

  private double nanosOfRow(int past) {
    return Math.max(rowNanos, 0) + pastNanos * past / PAST_UNIT;
  }

  /** Records the time of the planned step. */
  void recordStep(long nanos) {
    if (decodingRows == 0) {
      spentNanos += decoding == 0 ? 0 : nanos;
      return;
    }
    spentNanos = 0;
    withoutPrefill = rows == 0 ? withoutPrefill + 1 : 0;
    if (freeShare < 1) {
      return; // it does not predict the next step
    }
    if (rows == 0) {
      recordDecodeStep(nanos / (double) (BASE_ROWS + decodingRows));
    } else {
      sinceDecodeOnly++;
      updateCosts(nanos);
      updateSlowdown(nanos / (usualUnitNanos() * (BASE_ROWS + decodingRows)));
    }
  }

  private void updateSlowdown(double ratio) {
    if (ratio < PAUSE_SLOWDOWN) {
      double change = ratio > TAIL_SLOWDOWN ? -SLOWDOWN_STEP : SLOWDOWN_GROWTH;
      slowdown = Math.clamp(slowdown + change, MIN_SLOWDOWN, MAX_SLOWDOWN);
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

  /** Moves the cost estimates towards the measured time, along the shortest path. */
  private void updateCosts(long nanos) {
    double usual = usualUnitNanos() * (BASE_ROWS + decodingRows);
    double error = nanos - usual - rows * rowNanos - pastUnits * pastNanos;
    double bounded = Math.clamp(error, -MAX_ERROR * usual, MAX_ERROR * usual);
    double correction = bounded * GAIN;
    double size = (double) rows * rows + pastUnits * pastUnits;
    rowNanos = Math.max(0, rowNanos + correction * rows / size);
    pastNanos = Math.max(0, pastNanos + correction * pastUnits / size);
  }

  /** Returns the usual time of a step with all waiting requests and without prompt rows. */
  private double usualNanos() {
    return usualUnitNanos() * (BASE_ROWS + decoding);
  }

  private double usualUnitNanos() {
    System.arraycopy(decodeNanos, 0, sorted, 0, samples);
    Arrays.sort(sorted, 0, samples);
    return samples == 0 ? 0 : sorted[samples / 4];
  }
}
