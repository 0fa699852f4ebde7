package dev.kvasir.engine;

/**
 * Divides the time between decode steps and prompts where prompts can be preempted. A prompt runs
 * in slices: from the end of a decode step until the next one is due, a {@link PlannedSlowdown}
 * after the last.
 *
 * <pre>
 *   decode step |  slice of a prompt  | decode step |  slice of a prompt  |
 *               |<------- usual time * planned slowdown ----->|
 * </pre>
 *
 * <p>The rows of a prompt step are chosen so that the parts between which it can be preempted are
 * short compared to a slice. A part takes time in proportion to the rows and, in attention, to
 * their past.
 *
 * <p>Results do not depend on it, since a prefill step gives the same bits however it is chunked.
 */
final class PrefillSlices {
  private static final int MAX_ROWS = Request.PREFILL_STEP;

  /** Fewer rows would hardly take less time. */
  private static final int MIN_ROWS = StepCosts.ROWS_TOGETHER;

  /** Rows while the time of their parts is unknown. */
  private static final int FIRST_ROWS = 32;

  /** The longest part, as a share of the usual time of a decode step. */
  private static final double MAX_PART = 0.4;

  /** The shortest slice, as a share of the same: prompts must progress. */
  private static final double MIN_SLICE = 0.25;

  /**
   * The time until a decode step is tried again that nobody was ready for, as a share of the same:
   * the listener of a slow client may take long.
   */
  private static final double RETRY = 0.1;

  /** The past from which on attention counts: before, products with weights take longer. */
  private static final int SHORT_PAST = 1024;

  /** The share of an error that corrects the time of a part after one step. */
  private static final double GAIN = 0.3;

  private final UsualStepTime usual = new UsualStepTime();
  private final PlannedSlowdown slowdown = new PlannedSlowdown();

  private int decoding; // requests that wait for a token
  private double freeShare; // of the processors
  private long lastDecodeEnd;
  private long lastInVain;
  private boolean hasPrompts; // whether prompt rows ran since then

  private int rows; // of the prompt step
  private int past; // the longest of its rows
  private double partNanos; // of the longest part, per row with a short past; 0 until known

  /**
   * Records who waits.
   *
   * @param waiting requests that wait for their next token, or are reporting one
   * @param freeProcessors share of the processors without other work
   */
  void waiting(int waiting, double freeProcessors) {
    decoding = waiting;
    freeShare = freeProcessors;
  }

  /** Starts a prompt step. */
  void begin() {
    rows = 0;
    past = 0;
    hasPrompts = true;
  }

  /** Returns how many rows a prompt with so many cached tokens may have in this step. */
  int rowsFor(int cached) {
    if (decoding == 0) {
      return MAX_ROWS - rows;
    }
    if (rows > 0 && pastUnits(cached) > pastUnits(past)) {
      return 0; // the parts of one would be planned with the past of another
    }
    return Math.max(0, maxRows(cached) - rows);
  }

  private int maxRows(int cached) {
    if (partNanos == 0) {
      return FIRST_ROWS;
    }
    double fitting = usual.nanos(decoding) * MAX_PART / (partNanos * pastUnits(cached));
    int aligned = (int) Math.min(MAX_ROWS, fitting) / MIN_ROWS * MIN_ROWS;
    return Math.max(MIN_ROWS, aligned);
  }

  private static double pastUnits(int cached) {
    return Math.max(1, cached / (double) SHORT_PAST);
  }

  /** Adds rows of a prompt to this step. */
  void add(int count, int cached) {
    rows += count;
    past = Math.max(past, count > 0 ? cached : 0);
  }

  /** Returns the time until a decode step is due; {@link Long#MAX_VALUE} if nobody waits. */
  long nanosLeft(long now) {
    if (decoding == 0) {
      return Long.MAX_VALUE;
    }
    double nanos = usual.nanos(decoding);
    double slice = Math.max(slowdown.value() * freeShare - 1, MIN_SLICE);
    long due = lastDecodeEnd + (long) (slice * nanos);
    return Math.max(due, lastInVain + (long) (RETRY * nanos)) - now;
  }

  /** Records that a decode step was due and nobody was ready for it. */
  void recordInVain(long now) {
    lastInVain = now;
  }

  /** Records a decode step. */
  void recordDecode(int decodingRows, long begin, long end) {
    usual.record(decodingRows, end - begin);
    if (hasPrompts && freeShare == 1) {
      slowdown.record((end - lastDecodeEnd) / usual.nanos(decodingRows));
    }
    lastDecodeEnd = end;
    hasPrompts = false;
  }

  /** Records that prompt rows ran since the last decode step. */
  void recordSlice() {
    hasPrompts = true;
  }

  /** Records the longest part of a prompt step between which it could be preempted. */
  void recordPart(long nanos) {
    double each = nanos / (rows * pastUnits(past));
    partNanos += (partNanos == 0 ? 1 : GAIN) * (each - partNanos);
  }
}
