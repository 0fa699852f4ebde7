package dev.kvasir.chat;

import dev.kvasir.KvasirException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Admission control by reserved memory. A request is admitted when the budget covers the most that
 * its sequences can ever use, in addition to what running sequences have reserved. An admitted
 * request therefore always completes. Other requests queue in arrival order, up to a limit; beyond
 * it they are rejected with a retry time.
 *
 * <p>Blocks of a shared prefix count once. Cached prefixes of finished requests do not count, since
 * they are evicted when memory is needed. This class is thread-safe.
 */
public final class Admission {
  private static final double SMOOTHING = 0.2;

  /** Time between two calls of what a waiting request does. */
  private static final long CALL_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final long limit;
  private final int maxSequences;
  private final int maxQueued;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<Object> queued = new ArrayDeque<>();
  private final Map<Object, SharedPrefix> sharedPrefixes = new IdentityHashMap<>();
  private long reserved;
  private int sequences;
  private double averageSeconds = 1; // moving average of a request's run time
  private boolean stopping;

  private static final class SharedPrefix {
    private int refCount;
    private final long bytes;

    SharedPrefix(long bytes) {
      this.bytes = bytes;
    }
  }

  /**
   * What a request at the head of the queue needs.
   *
   * @param bytes the most that its sequences can use, without the shared prefix
   * @param sharedPrefix identity of the prefix that they share with others; null for none
   * @param sharedBytes bytes of that prefix
   */
  record Need(int sequences, long bytes, Object sharedPrefix, long sharedBytes) {}

  /**
   * @param limit bytes that all sequences may use together
   * @param maxSequences sequences that run concurrently
   * @param maxQueued requests that wait
   */
  public Admission(long limit, int maxSequences, int maxQueued) {
    this.limit = limit;
    this.maxSequences = maxSequences;
    this.maxQueued = maxQueued;
  }

  /** Opens the session of a request at the head of the queue, and returns what it needs. */
  interface SessionOpener {
    Need open();
  }

  /** The right to run, with its reservation. Closing it admits others. */
  final class Permit implements AutoCloseable {
    private final Need need;
    private final long since = System.nanoTime();
    private boolean closed;

    private Permit(Need need) {
      this.need = need;
    }

    @Override
    public void close() {
      lock.lock();
      try {
        if (!closed) {
          closed = true;
          release(need);
          double seconds = (System.nanoTime() - since) / 1e9;
          averageSeconds += SMOOTHING * (seconds - averageSeconds);
          changed.signalAll();
        }
      } finally {
        lock.unlock();
      }
    }
  }

  /**
   * Waits for a permit.
   *
   * @param totalBytes bytes that the request needs if it shares no prefix
   * @param opensConcurrently whether opening takes memory and time, as a fetch from a store does.
   *     All of its bytes are then reserved first, and other requests are admitted meanwhile.
   * @param whileWaiting called about once a second
   * @throws KvasirException if the request can never be admitted, or the queue is full
   */
  Permit admit(
      int count,
      long totalBytes,
      boolean opensConcurrently,
      SessionOpener opener,
      Runnable whileWaiting) {
    AdmissionEvent event = new AdmissionEvent();
    event.begin();
    try {
      Permit permit = awaitPermit(count, totalBytes, opensConcurrently, opener, whileWaiting);
      event.isAdmitted = true;
      return permit;
    } finally {
      event.end();
      if (event.shouldCommit()) {
        event.sequences = count;
        event.bytes = totalBytes;
        event.queued = queued();
        event.commit();
      }
    }
  }

  private Permit awaitPermit(
      int count,
      long totalBytes,
      boolean opensConcurrently,
      SessionOpener opener,
      Runnable whileWaiting) {
    if (totalBytes > limit) {
      throw new KvasirException(
          KvasirException.Reason.TOO_LONG,
          "the prompt and its answer may take %d bytes of cache; the server has %d"
              .formatted(totalBytes, limit));
    }
    if (count > maxSequences) {
      throw new KvasirException(
          KvasirException.Reason.INVALID_INPUT,
          "n is %d; expected at most %d".formatted(count, maxSequences));
    }
    Object ticket = new Object();
    Waiting waiting = new Waiting(whileWaiting);
    enqueue(ticket, count);
    Permit permit;
    try {
      awaitTurn(ticket, count, waiting);
      Need need = opensConcurrently ? new Need(count, totalBytes, null, 0) : opener.open();
      permit = awaitCapacity(need, waiting);
    } finally {
      dequeue(ticket);
    }
    return opensConcurrently ? openConcurrently(permit, opener) : permit;
  }

  /** Opens the session, then reduces the reservation to what it needs, which is never more. */
  private Permit openConcurrently(Permit permit, SessionOpener opener) {
    Need need = null;
    try {
      need = opener.open();
    } finally {
      lock.lock();
      try {
        release(permit.need);
        if (need != null) {
          reserve(need);
        }
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
    return new Permit(need);
  }

  private void enqueue(Object ticket, int count) {
    lock.lock();
    try {
      boolean waits = !queued.isEmpty() || sequences + count > maxSequences;
      if (waits && queued.size() >= maxQueued) {
        throw new KvasirException(
            KvasirException.Reason.BUSY,
            "%d requests are waiting, which is the most; try again in %d seconds"
                .formatted(queued.size(), retrySeconds()));
      }
      queued.add(ticket);
    } finally {
      lock.unlock();
    }
  }

  private void awaitTurn(Object ticket, int count, Waiting waiting) {
    lock.lock();
    try {
      while (queued.peek() != ticket || sequences + count > maxSequences) {
        waiting.pause();
      }
      checkStopping();
    } finally {
      lock.unlock();
    }
  }

  private Permit awaitCapacity(Need need, Waiting waiting) {
    lock.lock();
    try {
      while (!fits(need)) {
        waiting.pause();
      }
      checkStopping();
      reserve(need);
      return new Permit(need);
    } finally {
      lock.unlock();
    }
  }

  private void reserve(Need need) {
    reserved += need.bytes();
    sequences += need.sequences();
    if (need.sharedPrefix() != null) {
      SharedPrefix prefix =
          sharedPrefixes.computeIfAbsent(
              need.sharedPrefix(), any -> reserveShared(need.sharedBytes()));
      prefix.refCount++;
    }
  }

  private SharedPrefix reserveShared(long bytes) {
    reserved += bytes;
    return new SharedPrefix(bytes);
  }

  private void release(Need need) {
    reserved -= need.bytes();
    sequences -= need.sequences();
    SharedPrefix prefix =
        need.sharedPrefix() == null ? null : sharedPrefixes.get(need.sharedPrefix());
    if (prefix != null && --prefix.refCount == 0) {
      reserved -= prefix.bytes;
      sharedPrefixes.remove(need.sharedPrefix());
    }
  }

  /** A request always fits when nothing else runs: larger ones were rejected before. */
  private boolean fits(Need need) {
    boolean counted =
        need.sharedPrefix() == null || sharedPrefixes.containsKey(need.sharedPrefix());
    long wanted = need.bytes() + (counted ? 0 : need.sharedBytes());
    return sequences == 0
        || reserved + wanted <= limit && sequences + need.sequences() <= maxSequences;
  }

  /** A request that waits. Its callback is due once a second, however often others end. */
  private final class Waiting {
    private final Runnable callback;
    private long nextCall = System.nanoTime() + CALL_NANOS;

    Waiting(Runnable callback) {
      this.callback = callback;
    }

    /** Waits for a change, or until the callback is due, for which the lock is free. */
    void pause() {
      checkStopping();
      try {
        if (changed.awaitNanos(nextCall - System.nanoTime()) > 0) {
          return;
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw closed();
      }
      lock.unlock();
      try {
        callback.run();
      } finally {
        lock.lock();
      }
      nextCall = System.nanoTime() + CALL_NANOS;
    }
  }

  private void dequeue(Object ticket) {
    lock.lock();
    try {
      queued.remove(ticket);
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the bytes that all sequences may use together. */
  long limit() {
    return limit;
  }

  /** Throws if the service is closing, so that work without an end of its own ends. */
  void requireOpen() {
    lock.lock();
    try {
      checkStopping();
    } finally {
      lock.unlock();
    }
  }

  static KvasirException closed() {
    return new KvasirException(KvasirException.Reason.CLOSED, "the chat model is closed");
  }

  private void checkStopping() {
    if (stopping) {
      throw closed();
    }
  }

  /** Stops admitting requests; queued ones fail. */
  public void stop() {
    lock.lock();
    try {
      stopping = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Returns when a client should retry, by the average run time. */
  public long retrySeconds() {
    lock.lock();
    try {
      double rounds = (queued.size() + 1.0) / maxSequences;
      return Math.max(1, Math.round(averageSeconds * Math.max(0.5, rounds)));
    } finally {
      lock.unlock();
    }
  }

  public int queued() {
    lock.lock();
    try {
      return queued.size();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the number of running sequences. */
  public int running() {
    lock.lock();
    try {
      return sequences;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the bytes that running sequences have reserved. */
  public long reserved() {
    lock.lock();
    try {
      return reserved;
    } finally {
      lock.unlock();
    }
  }
}
