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

  private final Deque<State> recent = new ArrayDeque<>(); // of the recent half, oldest first
  private State before; // the newest before the recent half; null if there is no state
  private long start;

  private record State(long nanos, double share) {}

  /**
   * Notes a state of the work. The first one is where the work begins.
   *
   * @param nanos the time
   * @param share what is done, 0 to 1
   */
  void note(long nanos, double share) {
    if (before == null) {
      start = nanos;
    }
    recent.addLast(new State(nanos, share));
    long middle = start + (nanos - start) / 2;
    while (!recent.isEmpty() && recent.getFirst().nanos() <= middle) {
      before = recent.removeFirst();
    }
  }

  /** Returns the seconds that remain; empty if the recent work is too little to tell. */
  OptionalDouble seconds() {
    if (recent.isEmpty()) {
      return OptionalDouble.empty();
    }
    State now = recent.getLast();
    long nanos = now.nanos() - before.nanos();
    double done = now.share() - before.share();
    return nanos < LEAST_NANOS || done < LEAST_SHARE
        ? OptionalDouble.empty()
        : OptionalDouble.of(Math.round(nanos * (1 - now.share()) / done) / 1e9);
  }
}
