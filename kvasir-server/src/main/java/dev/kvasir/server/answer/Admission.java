package dev.kvasir.server.answer;

import dev.kvasir.server.api.ApiException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Who may begin. A request is let in when the budget has room for all that its sequences can ever
 * take, beside what was promised to those that run: so whoever was let in comes to an end. Others
 * wait in the order of their arrival, up to a number; beyond it they are told to come again.
 *
 * <p>Pages that several sequences began from are counted once. What is kept of finished texts is
 * not counted: it leaves when memory is needed.
 */
public final class Admission {
  private static final double SMOOTHING = 0.2;

  private final long limit;
  private final int maxSequences;
  private final int maxQueued;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<Object> queued = new ArrayDeque<>();
  private final Map<Object, SharedPrefix> sharedPrefixes = new IdentityHashMap<>();
  private long reserved;
  private int sequences;
  private double averageSeconds = 1; // that a request runs
  private boolean stopping;

  private static final class SharedPrefix {
    private int refCount;
    private final long bytes;

    SharedPrefix(long bytes) {
      this.bytes = bytes;
    }
  }

  /**
   * What a request that has come to the front turns out to need.
   *
   * @param bytes that its sequences never exceed, without what they share with others
   * @param source what they began from, the same object for all that did; null for none
   * @param sourceBytes of what they share
   */
  record Need(int sequences, long bytes, Object sharedPrefix, long sharedBytes) {}

  /**
   * @param limit bytes that sequences may take together
   * @param mostSequences that run at once
   * @param mostWaiting requests that wait
   */
  public Admission(long limit, int maxSequences, int maxQueued) {
    this.limit = limit;
    this.maxSequences = maxSequences;
    this.maxQueued = maxQueued;
  }

  /** Says what a request needs, once it is its turn. */
  interface SessionOpener {
    Need open();
  }

  /** A place among those that run; closing it lets others in. */
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
   * Waits for a place.
   *
   * @param all bytes that the request needs if it shares nothing
   * @param opensAside whether saying what it needs takes memory and time, as fetching from a store
   *     does: then all of its bytes are promised first, and others have their turn meanwhile
   * @param whileWaiting called about once a second
   * @throws ApiException where it can never be let in, or not soon
   */
  Permit admit(
      int count,
      long totalBytes,
      boolean opensConcurrently,
      SessionOpener opener,
      Runnable whileWaiting) {
    if (totalBytes > limit) {
      throw ApiException.tooLong(
          "the prompt and its answer may take %d bytes of cache; the server has %d"
              .formatted(totalBytes, limit));
    }
    if (count > maxSequences) {
      throw ApiException.invalidField(
          "n", "n is %d; expected at most %d".formatted(count, maxSequences));
    }
    Object ticket = new Object();
    enqueue(ticket, count);
    Permit permit;
    try {
      awaitTurn(ticket, count, whileWaiting);
      Need need = opensConcurrently ? new Need(count, totalBytes, null, 0) : opener.open();
      permit = awaitCapacity(need, whileWaiting);
    } finally {
      dequeue(ticket);
    }
    return opensConcurrently ? openConcurrently(permit, opener) : permit;
  }

  /** Keeps of a promise what turns out to be needed, which is no more. */
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
        throw ApiException.busy(
            "%d requests are waiting, which is the most; try again in %d seconds"
                .formatted(queued.size(), retrySeconds()));
      }
      queued.add(ticket);
    } finally {
      lock.unlock();
    }
  }

  private void awaitTurn(Object ticket, int count, Runnable whileWaiting) {
    lock.lock();
    try {
      while (queued.peek() != ticket || sequences + count > maxSequences) {
        pause(whileWaiting);
      }
      checkStopping();
    } finally {
      lock.unlock();
    }
  }

  private Permit awaitCapacity(Need need, Runnable whileWaiting) {
    lock.lock();
    try {
      while (!fits(need)) {
        pause(whileWaiting);
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

  /** Alone, a request always fits: it was refused otherwise. */
  private boolean fits(Need need) {
    boolean counted =
        need.sharedPrefix() == null || sharedPrefixes.containsKey(need.sharedPrefix());
    long wanted = need.bytes() + (counted ? 0 : need.sharedBytes());
    return sequences == 0
        || reserved + wanted <= limit && sequences + need.sequences() <= maxSequences;
  }

  /** Waits a second at the most; the lock is free while the listener is told. */
  private void pause(Runnable whileWaiting) {
    checkStopping();
    try {
      if (!changed.await(1, TimeUnit.SECONDS)) {
        lock.unlock();
        try {
          whileWaiting.run();
        } finally {
          lock.lock();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw ApiException.stopping();
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

  private void checkStopping() {
    if (stopping) {
      throw ApiException.stopping();
    }
  }

  /** Lets nobody in any more; who waits is told. */
  public void stop() {
    lock.lock();
    try {
      stopping = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** When to come again, by what requests usually take. */
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

  /** Sequences that run. */
  public int running() {
    lock.lock();
    try {
      return sequences;
    } finally {
      lock.unlock();
    }
  }

  /** Bytes that are promised to those that run. */
  public long reserved() {
    lock.lock();
    try {
      return reserved;
    } finally {
      lock.unlock();
    }
  }
}
