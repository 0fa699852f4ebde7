package dev.kvasir.cli.terminal;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalDouble;

/**
 * Estimates how long work takes from here, by its rate over the recent half of the time so far. A
 * slow start, such as a file that is not in memory yet, is forgotten this way.
 *
 * <p>Not thread-safe.
 */
final class RemainingTime {
  private static final long LEAST_NANOS = 5_000_000_000L;
  private static final double LEAST_SHARE = 0.01;

  /** The states of the work, oldest first; the first one is the newest before the recent half. */
  private final Deque<State> recent = new ArrayDeque<>();

  private long start;

  private record State(long nanos, double share) {}

  /**
   * Notes a state of the work. The first one is where the work begins.
   *
   * @param nanos the time
   * @param share what is done, 0 to 1
   */
  void note(long nanos, double share) {
    if (recent.isEmpty()) {
      start = nanos;
    }
    recent.addLast(new State(nanos, share));
    long middle = start + (nanos - start) / 2;
    while (recent.size() > 2) {
      State first = recent.removeFirst();
      if (recent.getFirst().nanos() > middle) {
        recent.addFirst(first);
        return;
      }
    }
  }

  /** Returns the seconds that remain; empty if the recent work is too little to tell. */
  OptionalDouble seconds() {
    if (recent.isEmpty()) {
      return OptionalDouble.empty();
    }
    State from = recent.getFirst();
    State to = recent.getLast();
    long nanos = to.nanos() - from.nanos();
    double done = to.share() - from.share();
    return nanos < LEAST_NANOS || done < LEAST_SHARE
        ? OptionalDouble.empty()
        : OptionalDouble.of(Math.round(nanos * (1 - to.share()) / done) / 1e9);
  }
}
