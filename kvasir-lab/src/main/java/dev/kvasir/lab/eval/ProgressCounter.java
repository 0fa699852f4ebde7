package dev.kvasir.lab.eval;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.WorkCancelledException;

/** Counts work as it is done, and ends it where the listener asks. */
final class ProgressCounter {
  /** Past tokens whose attention costs a token as much time as its products with the weights. */
  private static final double PAST_TOKENS = 4000;

  /** A token that is generated, beside one of a prompt that is read many at a time. */
  private static final double DECODE_FACTOR = 2;

  private final ProgressListener listener;
  private final double total;
  private double done;

  ProgressCounter(ProgressListener listener, double total) {
    this.listener = listener;
    this.total = total;
  }

  /** The work of reading tokens after a past of {@code from} of them. */
  static double prefillCost(int from, int count) {
    return count * (1 + (from + count / 2.0) / PAST_TOKENS);
  }

  /** The work of generating tokens after a past of {@code from} of them. */
  static double decodeCost(int from, int count) {
    return DECODE_FACTOR * prefillCost(from, count);
  }

  void add(double cost) {
    done += cost;
    WorkCancelledException.reportOrThrow(listener, done, total);
  }
}
