package dev.kvasir.engine;

/**
 * Single rows in the midst of a long prompt, so that Java compiles what generates while there is
 * still something to read: what steps of many rows run is other code, and without this the first
 * tokens of an answer are interpreted.
 *
 * <p>Bits do not depend on it, since a prompt's step gives the same in however many parts. Time
 * does: a row alone takes longer than one of many, for large models hundreds of milliseconds. Of a
 * small model the rows are spread over some steps by that, and a large one has a few of them.
 */
final class JitWarmup {
  /** Rows that are a rehearsal, or as many steps that generated. */
  private static final int ROWS = 256;

  /** Of each step of a prompt, its first rows at the most. */
  private static final int ROWS_PER_STEP = 32;

  /** Tokens that must be left to read: compilers take their time. */
  private static final int MIN_UNREAD = 1024;

  /** The part of all steps' time that single rows may take. */
  private static final double MAX_SHARE = 1.0 / 8;

  private static final long MAX_NANOS = 1_000_000_000;

  private int done;
  private boolean isSingle; // the step at hand
  private long stepNanos; // of all steps so far
  private long singleNanos; // of those with a single row of a prompt

  /** Says that a step has so many rows that wait for a token. */
  void recordDecode(int rows) {
    isSingle = false;
    done = Math.min(ROWS, done + Math.min(1, rows));
  }

  /** Whether a prompt that is read alone has a single row now. */
  boolean takesSingleRow(int past, int unread) {
    isSingle =
        done < ROWS
            && unread >= MIN_UNREAD
            && past % Request.PREFILL_STEP < ROWS_PER_STEP
            && singleNanos < Math.min(MAX_NANOS, stepNanos * MAX_SHARE);
    done += isSingle ? 1 : 0;
    return isSingle;
  }

  /** Says what the step took. */
  void recordStep(long nanos) {
    if (done < ROWS) {
      stepNanos += nanos;
      singleNanos += isSingle ? nanos : 0;
    }
  }
}
