package dev.kvasir.engine;

/**
 * Limits the prompt tokens that share a step with decoding requests (chunked prefill): a step takes
 * at most a {@link PlannedSlowdown} longer than usual. Where steps can be preempted, it also tells
 * which prompts are read in {@link PrefillSlices} instead.
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
  private static final int DECODE_ONLY_EVERY = 32;
  private static final int MAX_ROWS = 256;

  /** Maximum consecutive steps without prompt rows while prompts wait. */
  private static final int MAX_STEPS_WITHOUT_PREFILL = 8;

  /** Decode-only steps before prompts join, since a single one may have been disturbed. */
  private static final int MIN_SAMPLES = 3;

  /** The share of an error that corrects the estimates after one step. */
  private static final double GAIN = 0.1;

  /** Maximum error of a step, as a share of the usual time: a pause says nothing about rows. */
  private static final double MAX_ERROR = 0.5;

  /**
   * The past before which prompts always share steps. Preempted, eight prompts of 2,048 tokens were
   * read in 26 s instead of 20 beside a stream with the same gaps, and first tokens of eight
   * clients came after 42 ms instead of 19 (two cores of a Xeon).
   */
  private static final int LONG_PAST = 4096;

  /** Past tokens per unit of attention cost. */
  private static final double PAST_UNIT = 1024;

  private final UsualStepTime usual = new UsualStepTime();
  private final PlannedSlowdown slowdown = new PlannedSlowdown();
  private int sinceDecodeOnly;
  private int withoutPrefill; // steps since the last one with prompt rows

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
    } else if (hasRows && (usual.samples() < MIN_SAMPLES || sinceDecodeOnly >= DECODE_ONLY_EVERY)) {
      remainingNanos = 0;
      mustProgress = false;
    } else {
      boolean hasWaited = withoutPrefill >= MAX_STEPS_WITHOUT_PREFILL;
      double ownNanos =
          hasRows ? 0 : usual.unitNanos() * UsualStepTime.BASE_ROWS; // of a step of its own
      remainingNanos =
          usual.nanos(decoding) * (slowdown.value() * (hasWaited ? 1 : freeShare) - 1)
              - ownNanos
              - spentNanos;
      mustProgress = !hasRows || hasWaited || freeShare == 1 && spentNanos == 0;
    }
  }

  /**
   * Returns whether a prompt with {@code past} cached tokens fits beside {@code waiting} requests:
   * whether as many rows as cost little more than one do. It is assumed until costs are known, and
   * after a short past: a stream beside rows that share its reads of weights lets prompts progress
   * faster than one between their slices.
   */
  boolean fits(int past, int waiting) {
    double free = usual.nanos(waiting) * (slowdown.value() - 1);
    return past < LONG_PAST
        || usual.samples() < MIN_SAMPLES
        || free >= StepCosts.ROWS_TOGETHER * nanosOfRow(past);
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
      recordDecodeStep(nanos);
    } else {
      sinceDecodeOnly++;
      updateCosts(nanos);
      slowdown.record(nanos / usual.nanos(decodingRows));
    }
  }

  private void recordDecodeStep(long nanos) {
    usual.record(decodingRows, nanos);
    sinceDecodeOnly = 0;
    if (rowNanos < 0) {
      rowNanos = nanos / (double) (UsualStepTime.BASE_ROWS + decodingRows);
    }
  }

  /** Moves the cost estimates towards the measured time, along the shortest path. */
  private void updateCosts(long nanos) {
    double usualNanos = usual.nanos(decodingRows);
    double error = nanos - usualNanos - rows * rowNanos - pastUnits * pastNanos;
    double bounded = Math.clamp(error, -MAX_ERROR * usualNanos, MAX_ERROR * usualNanos);
    double correction = bounded * GAIN;
    double size = (double) rows * rows + pastUnits * pastUnits;
    rowNanos = Math.max(0, rowNanos + correction * rows / size);
    pastNanos = Math.max(0, pastNanos + correction * pastUnits / size);
  }
}
