package dev.kvasir.lab.eval;

import dev.kvasir.lab.WorkListener;
import dev.kvasir.lab.work.Stopped;

/** Counts work as it is done, and ends it where the listener asks. */
final class Pace {
  /** Past tokens whose attention costs a token as much time as its products with the weights. */
  private static final double PAST_TOKENS = 4000;

  /** A token that is generated, beside one of a prompt that is read many at a time. */
  private static final double GENERATED = 2;

  private final WorkListener listener;
  private final double inAll;
  private double done;

  Pace(WorkListener listener, double inAll) {
    this.listener = listener;
    this.inAll = inAll;
  }

  /** The work of reading tokens after a past of {@code from} of them. */
  static double reading(int from, int count) {
    return count * (1 + (from + count / 2.0) / PAST_TOKENS);
  }

  /** The work of generating tokens after a past of {@code from} of them. */
  static double writing(int from, int count) {
    return GENERATED * reading(from, count);
  }

  void count(double work) {
    done += work;
    Stopped.unlessWanted(listener, done, inAll);
  }
}
