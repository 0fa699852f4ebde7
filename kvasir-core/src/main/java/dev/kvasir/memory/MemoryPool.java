package dev.kvasir.memory;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A byte budget shared by several users, for example all sequences of an engine. Users acquire
 * bytes before they allocate, and a rejected request changes nothing. Shared memory counts once,
 * where it was acquired. When bytes run out, the pool asks its {@link Reclaimable} members to free
 * some. Thread-safe.
 */
public final class MemoryPool {
  /** A user that can free memory when others need it. */
  public interface Reclaimable {
    /**
     * The number of levels at which {@link #reclaim} is called in turn: the most times that pages
     * of any method can be requantized.
     */
    int LEVELS = 6;

    /**
     * Releases about {@code bytes}, or as many as possible at a level; runs on the thread that
     * needs them.
     *
     * @param level 0 is the widest: pages at this level may be requantized, narrower ones stay
     */
    void reclaim(int level, long bytes);
  }

  private final long limit;
  private final MemoryPool whole; // null unless this is a part of it
  private final AtomicLong usedBytes = new AtomicLong();
  private final AtomicLong peakBytes = new AtomicLong();
  private final List<Reclaimable> reclaimables; // those of the whole if this is a part

  public MemoryPool(long limit) {
    this(limit, null, new CopyOnWriteArrayList<>());
  }

  private MemoryPool(long limit, MemoryPool whole, List<Reclaimable> reclaimables) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit is %d; expected at least 1".formatted(limit));
    }
    this.limit = limit;
    this.whole = whole;
    this.reclaimables = reclaimables;
  }

  /** Creates a pool without a limit. */
  public static MemoryPool unlimited() {
    return new MemoryPool(Long.MAX_VALUE);
  }

  /**
   * Returns a pool of some of these bytes, such as those of one device among several. What it
   * acquires is acquired here too, and its members are those of this pool, which free bytes of all
   * parts alike.
   */
  public MemoryPool part(long partLimit) {
    return new MemoryPool(partLimit, this, reclaimables);
  }

  public long limit() {
    return limit;
  }

  /** Returns the bytes in use, reserved ones included. */
  public long usedBytes() {
    return usedBytes.get();
  }

  /** Returns the peak of the bytes in use. */
  public long peakBytes() {
    return peakBytes.get();
  }

  /** Acquires bytes if the pool has them, after reclaiming some if necessary. */
  public boolean tryAcquire(long bytes) {
    if (bytes == 0) {
      return true; // even when the pool is overdrawn
    }
    for (int level = 0; level < Reclaimable.LEVELS; level++) {
      if (acquireFree(bytes)) {
        return true;
      }
      reclaim(level, bytes);
    }
    return acquireFree(bytes);
  }

  /** Asks the members one after another until there are enough bytes. */
  private void reclaim(int level, long bytes) {
    for (Reclaimable one : reclaimables) {
      long missing = missing(bytes);
      if (missing > 0) {
        one.reclaim(level, missing);
      }
    }
  }

  /** Returns the bytes of the whole to free; a part gets its share of them. */
  private long missing(long bytes) {
    long own = bytes - (limit - usedBytes.get());
    if (whole == null) {
      return own;
    }
    long ofWhole = (long) Math.ceil((double) own * whole.limit / limit);
    return Math.max(ofWhole, whole.missing(bytes));
  }

  private boolean acquireFree(long bytes) {
    long before;
    do {
      before = usedBytes.get();
      if (bytes > limit - before) {
        return false;
      }
    } while (!usedBytes.compareAndSet(before, before + bytes));
    if (whole != null && !whole.acquireFree(bytes)) {
      usedBytes.addAndGet(-bytes);
      return false;
    }
    peakBytes.accumulateAndGet(before + bytes, Math::max);
    return true;
  }

  /**
   * Acquires bytes.
   *
   * @throws MemoryFullException if the pool has too few; nothing has changed then
   */
  public void acquire(long bytes) {
    if (!tryAcquire(bytes)) {
      throw new MemoryFullException(bytes, usedBytes.get(), limit);
    }
  }

  /**
   * Acquires bytes regardless of the limit, for a caller that is about to release more: a page
   * exists next to its narrower replacement for a moment.
   */
  public void overdraw(long bytes) {
    usedBytes.addAndGet(bytes);
    if (whole != null) {
      whole.overdraw(bytes);
    }
  }

  public void release(long bytes) {
    usedBytes.addAndGet(-bytes);
    if (whole != null) {
      whole.release(bytes);
    }
  }

  public void register(Reclaimable one) {
    reclaimables.add(one);
  }

  public void unregister(Reclaimable one) {
    reclaimables.remove(one);
  }
}
