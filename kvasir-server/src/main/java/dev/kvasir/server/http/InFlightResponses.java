package dev.kvasir.server.http;

import dev.kvasir.server.api.ApiException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Tracks responses that are being written. A completion may have ended before its client has read
 * it; a server that stopped then would cut off the last event. Thread-safe.
 */
public final class InFlightResponses {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition none = lock.newCondition();
  private final Optional<InFlightResponses> all;
  private int count;
  private boolean draining;

  public InFlightResponses() {
    this.all = Optional.empty();
  }

  private InFlightResponses(InFlightResponses all) {
    this.all = Optional.of(all);
  }

  /** Returns a tracker of some of these responses. */
  public InFlightResponses part() {
    return new InFlightResponses(this);
  }

  /** Closed when the response is written, or cannot be. */
  interface InFlight extends AutoCloseable {
    @Override
    void close();
  }

  /**
   * @throws ApiException if no response may begin any more
   */
  InFlight begin() {
    return begin(false);
  }

  /**
   * @param isAdmitted whether it belongs to a request that may go on although the server drains
   */
  private InFlight begin(boolean isAdmitted) {
    // The router of several models has begun a response before the model was loaded.
    Optional<InFlight> outer = all.map(whole -> whole.begin(true));
    lock.lock();
    try {
      if (draining && !isAdmitted) {
        outer.ifPresent(InFlight::close);
        throw ApiException.stopping();
      }
      count++;
    } finally {
      lock.unlock();
    }
    return () -> {
      end();
      outer.ifPresent(InFlight::close);
    };
  }

  private void end() {
    lock.lock();
    try {
      if (--count == 0) {
        none.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  boolean isIdle() {
    lock.lock();
    try {
      return count == 0;
    } finally {
      lock.unlock();
    }
  }

  /** Refuses further responses. */
  public void drain() {
    lock.lock();
    try {
      draining = true;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until no response is being written; returns whether that happened in time. */
  public boolean await(Duration timeout) throws InterruptedException {
    long left = timeout.toNanos();
    lock.lock();
    try {
      while (count > 0 && left > 0) {
        left = none.awaitNanos(left);
      }
      return count == 0;
    } finally {
      lock.unlock();
    }
  }
}
