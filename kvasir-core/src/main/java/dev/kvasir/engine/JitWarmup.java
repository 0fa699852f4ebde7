package dev.kvasir.engine;

/**
 * Inserts single-row steps into a long prefill, so that the JIT compiles the decode path while the
 * prompt is still being processed. Steps of many rows run other code; without this, the first
 * generated tokens would run interpreted.
 *
 * <p>Results do not depend on it, since a prefill step gives the same bits however it is chunked.
 * Time does: a single row takes longer than one of many, for large models hundreds of milliseconds.
 * For a small model, the rows are therefore spread over several steps; a large one gets only a few.
 */
final class JitWarmup {
  /** Single rows, or decode steps, that complete the warm-up. */
  private static final int ROWS = 256;

  /** Maximum single rows at the start of each prefill step. */
  private static final int ROWS_PER_STEP = 32;

  /** Prompt tokens that must remain, since compilation takes time. */
  private static final int MIN_UNREAD = 1024;

  /** Maximum share of the total step time for single rows. */
  private static final double MAX_SHARE = 1.0 / 8;

  private static final long MAX_NANOS = 1_000_000_000;

  private int done;
  private boolean isSingle; // the current step
  private long stepNanos; // of all steps so far
  private long singleNanos; // of those with a single prompt row

  /** Records a step with {@code rows} decode rows. */
  void recordDecode(int rows) {
    isSingle = false;
    done = Math.min(ROWS, done + Math.min(1, rows));
  }

  /** Returns whether a prompt that is prefilled alone takes a single row now. */
  boolean takesSingleRow(int past, int unread) {
    isSingle =
        done < ROWS
            && unread >= MIN_UNREAD
            && past % Request.PREFILL_STEP < ROWS_PER_STEP
            && singleNanos < Math.min(MAX_NANOS, stepNanos * MAX_SHARE);
    done += isSingle ? 1 : 0;
    return isSingle;
  }

  /** Records the time of the step. */
  void recordStep(long nanos) {
    if (done < ROWS) {
      stepNanos += nanos;
      singleNanos += isSingle ? nanos : 0;
    }
  }
}
