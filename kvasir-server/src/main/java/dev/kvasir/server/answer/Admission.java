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
  private static final double NEWEST_WEIGHT = 0.2;

  private final long limit;
  private final int mostSequences;
  private final int mostWaiting;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final Deque<Object> waiting = new ArrayDeque<>();
  private final Map<Object, Shared> shared = new IdentityHashMap<>();
  private long promised;
  private int sequences;
  private double usualSeconds = 1; // that a request runs
  private boolean stopping;

  private static final class Shared {
    private int holders;
    private final long bytes;

    Shared(long bytes) {
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
  record Need(int sequences, long bytes, Object source, long sourceBytes) {}

  /**
   * @param limit bytes that sequences may take together
   * @param mostSequences that run at once
   * @param mostWaiting requests that wait
   */
  public Admission(long limit, int mostSequences, int mostWaiting) {
    this.limit = limit;
    this.mostSequences = mostSequences;
    this.mostWaiting = mostWaiting;
  }

  /** Says what a request needs, once it is its turn. */
  interface Opening {
    Need open();
  }

  /** A place among those that run; closing it lets others in. */
  final class Place implements AutoCloseable {
    private final Need need;
    private final long since = System.nanoTime();
    private boolean closed;

    private Place(Need need) {
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
          usualSeconds += NEWEST_WEIGHT * (seconds - usualSeconds);
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
  Place admit(int count, long all, boolean opensAside, Opening opening, Runnable whileWaiting) {
    if (all > limit) {
      throw ApiException.tooLong(
          "the prompt and its answer may take %d bytes of cache; the server has %d"
              .formatted(all, limit));
    }
    if (count > mostSequences) {
      throw ApiException.invalidField(
          "n", "n is %d; expected at most %d".formatted(count, mostSequences));
    }
    Object turn = new Object();
    join(turn, count);
    Place whole;
    try {
      awaitTurn(turn, count, whileWaiting);
      Need need = opensAside ? new Need(count, all, null, 0) : opening.open();
      whole = take(need, whileWaiting);
    } finally {
      leave(turn);
    }
    return opensAside ? openAside(whole, opening) : whole;
  }

  /** Keeps of a promise what turns out to be needed, which is no more. */
  private Place openAside(Place whole, Opening opening) {
    Need need = null;
    try {
      need = opening.open();
    } finally {
      lock.lock();
      try {
        release(whole.need);
        if (need != null) {
          promise(need);
        }
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
    return new Place(need);
  }

  private void join(Object turn, int count) {
    lock.lock();
    try {
      boolean waits = !waiting.isEmpty() || sequences + count > mostSequences;
      if (waits && waiting.size() >= mostWaiting) {
        throw ApiException.busy(
            "%d requests are waiting, which is the most; try again in %d seconds"
                .formatted(waiting.size(), retrySeconds()));
      }
      waiting.add(turn);
    } finally {
      lock.unlock();
    }
  }

  private void awaitTurn(Object turn, int count, Runnable whileWaiting) {
    lock.lock();
    try {
      while (waiting.peek() != turn || sequences + count > mostSequences) {
        pause(whileWaiting);
      }
      checkStopping();
    } finally {
      lock.unlock();
    }
  }

  private Place take(Need need, Runnable whileWaiting) {
    lock.lock();
    try {
      while (!fits(need)) {
        pause(whileWaiting);
      }
      checkStopping();
      promise(need);
      return new Place(need);
    } finally {
      lock.unlock();
    }
  }

  private void promise(Need need) {
    promised += need.bytes();
    sequences += need.sequences();
    if (need.source() != null) {
      Shared kept = shared.computeIfAbsent(need.source(), any -> newShared(need.sourceBytes()));
      kept.holders++;
    }
  }

  private Shared newShared(long bytes) {
    promised += bytes;
    return new Shared(bytes);
  }

  private void release(Need need) {
    promised -= need.bytes();
    sequences -= need.sequences();
    Shared kept = need.source() == null ? null : shared.get(need.source());
    if (kept != null && --kept.holders == 0) {
      promised -= kept.bytes;
      shared.remove(need.source());
    }
  }

  /** Alone, a request always fits: it was refused otherwise. */
  private boolean fits(Need need) {
    boolean counted = need.source() == null || shared.containsKey(need.source());
    long wanted = need.bytes() + (counted ? 0 : need.sourceBytes());
    return sequences == 0
        || promised + wanted <= limit && sequences + need.sequences() <= mostSequences;
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

  private void leave(Object turn) {
    lock.lock();
    try {
      waiting.remove(turn);
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
      double rounds = (waiting.size() + 1.0) / mostSequences;
      return Math.max(1, Math.round(usualSeconds * Math.max(0.5, rounds)));
    } finally {
      lock.unlock();
    }
  }

  public int waiting() {
    lock.lock();
    try {
      return waiting.size();
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
  public long promised() {
    lock.lock();
    try {
      return promised;
    } finally {
      lock.unlock();
    }
  }
}
