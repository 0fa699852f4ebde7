package dev.kvasir.server.models;

import dev.kvasir.KvasirException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The requests without a lease, in order of arrival. Those whose model has memory leave the line
 * but stay pending. The lock of the pool guards it.
 */
final class WaitingLine {
  /** The place of a request. */
  static final class Ticket {}

  private final int max;
  private final Deque<Ticket> tickets = new ArrayDeque<>();
  private int pending;

  /**
   * @param max most requests that are pending at once; the one that loads a model always may be
   */
  WaitingLine(int max) {
    this.max = max;
  }

  /**
   * Admits a request, which is not in the line yet.
   *
   * @param isLoaded whether its model is loaded
   * @throws KvasirException if it must wait and too many requests do
   */
  Ticket admit(boolean isLoaded) {
    boolean mustWait = !isLoaded || !tickets.isEmpty();
    if (mustWait && pending >= Math.max(1, max)) {
      throw new KvasirException(
          KvasirException.Reason.BUSY,
          "%d requests wait for their models; expected fewer".formatted(pending));
    }
    pending++;
    return new Ticket();
  }

  /** Ends a request that was admitted. */
  void end(Ticket ticket) {
    pending--;
    tickets.remove(ticket);
  }

  boolean isNext(Ticket ticket) {
    return tickets.isEmpty() || tickets.peek() == ticket;
  }

  /** Puts a request at the end of the line unless it is in it. */
  void join(Ticket ticket) {
    if (!tickets.contains(ticket)) {
      tickets.add(ticket);
    }
  }

  /** Takes a request out of the line; returns whether it was in it. */
  boolean leave(Ticket ticket) {
    return tickets.remove(ticket);
  }

  int length() {
    return tickets.size();
  }
}
