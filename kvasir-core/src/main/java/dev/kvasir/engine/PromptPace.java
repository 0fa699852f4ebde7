package dev.kvasir.engine;

import java.util.Arrays;

/**
 * How many tokens of prompts share a step with sequences that wait for their next token, so that
 * half of these steps take less than {@link #LONGER} times as long as one without prompts.
 *
 * <p>What a row takes depends on the model, the past that it attends to, what else the machine does
 * and how much of the code is compiled; so nothing is foretold. Each step that took too long leaves
 * the next ones a little less room, and each other one a little more. What is usual is seen in
 * steps without prompts; where prompts never end, one in {@link #PLAIN_EVERY} does without them.
 * Bits do not depend on any of it, since a prompt's step gives the same in however many parts.
 */
final class PromptPace {
  private static final double LONGER = 2;
  private static final int PLAIN_EVERY = 32;
  private static final int MOST_ROWS = 256;

  /** Rows that what a step takes beside its rows is worth, about: room grows with who waits. */
  private static final int BASE_ROWS = 3;

  /** By which room changes after a step. */
  private static final double CHANGE = 1.05;

  /** Steps without prompts whose median is usual: a few that the machine disturbed do not count. */
  private static final int REMEMBERED = 9;

  private final double[] plain = new double[REMEMBERED]; // nanos, by row and base row; the latest
  private final double[] sorted = new double[REMEMBERED];
  private int next; // place in plain
  private int seen; // steps without prompts, as far as they are remembered
  private int sincePlain;
  private double room = LONGER - 1; // for each row that waits and base row

  /** Whether the next step is to do without prompts. */
  boolean mustSeeUsual() {
    return seen == 0 || sincePlain >= PLAIN_EVERY;
  }

  /**
   * @param decoding sequences that wait for their next token
   */
  int rowsBeside(int decoding) {
    return (int) Math.clamp(Math.ceil(room * (BASE_ROWS + decoding)), 1, MOST_ROWS);
  }

  /**
   * @param decoding rows of sequences that waited for their next token
   * @param reading rows of prompts
   */
  void took(int decoding, int reading, long nanos) {
    if (decoding == 0) {
      return;
    }
    double unitNanos = nanos / (double) (BASE_ROWS + decoding);
    if (reading == 0) {
      plain[next] = unitNanos;
      next = (next + 1) % REMEMBERED;
      seen = Math.min(seen + 1, REMEMBERED);
      sincePlain = 0;
      return;
    }
    sincePlain++;
    if (unitNanos > LONGER * usual()) {
      room = Math.max(room / CHANGE, 1.0 / (BASE_ROWS + decoding));
    } else if (reading >= rowsBeside(decoding)) {
      room = Math.min(room * CHANGE, MOST_ROWS);
    }
  }

  private double usual() {
    System.arraycopy(plain, 0, sorted, 0, seen);
    Arrays.sort(sorted, 0, seen);
    return seen == 0 ? Double.MAX_VALUE : sorted[seen / 2];
  }
}
