package dev.kvasir.lab.eval;

import dev.kvasir.lab.ProgressListener;
import dev.kvasir.lab.work.WorkCancelledException;

/** Counts finished work, reports it to a listener and throws when the listener cancels. */
final class ProgressCounter {
  /** Number of past tokens whose attention costs as much as a token's products with the weights. */
  private static final double PAST_TOKENS = 4000;

  /** Cost of a decoded token relative to a prefilled one. */
  private static final double DECODE_FACTOR = 2;

  /** Cost of a token that is decoded alone, for which all weights are read. */
  private static final double ALONE_FACTOR = 8;

  private final ProgressListener listener;
  private final double total;
  private double done;

  ProgressCounter(ProgressListener listener, double total) {
    this.listener = listener;
    this.total = total;
  }

  /** Returns the cost of prefilling tokens after {@code from} past tokens. */
  static double prefillCost(int from, int count) {
    return count * (1 + (from + count / 2.0) / PAST_TOKENS);
  }

  /** Returns the cost of decoding tokens after {@code from} past tokens. */
  static double decodeCost(int from, int count) {
    return DECODE_FACTOR * prefillCost(from, count);
  }

  /** Returns the cost of decoding tokens one by one, in a step of their own each. */
  static double decodeAloneCost(int count) {
    return ALONE_FACTOR * count;
  }

  void add(double cost) {
    done += cost;
    WorkCancelledException.reportOrThrow(listener, done, total);
  }
}
