package dev.kvasir.memory;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One number of bytes for all that share it, say all sequences of an engine. Whoever takes asks
 * first, and is refused before anything has changed; what several hold is counted once, where it
 * was taken. Where there is not enough, those are asked who can do with less ({@link Yielding}).
 */
public final class MemoryPool {
  /** One who can give memory back when others need it. */
  public interface Reclaimable {
    /**
     * Levels at which {@link #reclaim} is asked, one after another: as many times as pages of any
     * method can become narrower.
     */
    int LEVELS = 6;

    /**
     * Gives back about so many bytes, or as many as it can without going below a level; called from
     * the thread of whoever needs them.
     *
     * @param level 0 is the widest: what is at it may become narrower, what is beyond it stays
     */
    void reclaim(int level, long bytes);
  }

  private final long limit;
  private final AtomicLong usedBytes = new AtomicLong();
  private final AtomicLong peakBytes = new AtomicLong();
  private final List<Reclaimable> reclaimables = new CopyOnWriteArrayList<>();

  public MemoryPool(long limit) {
    if (limit < 1) {
      throw new IllegalArgumentException("limit is %d; expected at least 1".formatted(limit));
    }
    this.limit = limit;
  }

  /** As much as the machine has. */
  public static MemoryPool unlimited() {
    return new MemoryPool(Long.MAX_VALUE);
  }

  public long limit() {
    return limit;
  }

  /** Bytes that are taken now, those included that are set aside for what is to come. */
  public long usedBytes() {
    return usedBytes.get();
  }

  /** The most that were ever taken at once. */
  public long peakBytes() {
    return peakBytes.get();
  }

  /** Takes bytes if there are as many, if need be from those who can yield. */
  public boolean tryAcquire(long bytes) {
    if (bytes == 0) {
      return true; // also where more is borrowed than there is
    }
    for (int level = 0; level < Reclaimable.LEVELS; level++) {
      if (acquireFree(bytes)) {
        return true;
      }
      reclaim(level, bytes);
    }
    return acquireFree(bytes);
  }

  /** Asks one after another, until there is enough. */
  private void reclaim(int level, long bytes) {
    for (Reclaimable one : reclaimables) {
      long missing = bytes - (limit - usedBytes.get());
      if (missing > 0) {
        one.reclaim(level, missing);
      }
    }
  }

  private boolean acquireFree(long bytes) {
    long before;
    do {
      before = usedBytes.get();
      if (bytes > limit - before) {
        return false;
      }
    } while (!usedBytes.compareAndSet(before, before + bytes));
    peakBytes.accumulateAndGet(before + bytes, Math::max);
    return true;
  }

  /**
   * Takes bytes or throws.
   *
   * @throws MemoryFullException where there are not as many; nothing has changed then
   */
  public void acquire(long bytes) {
    if (!tryAcquire(bytes)) {
      throw new MemoryFullException(bytes, usedBytes.get(), limit);
    }
  }

  /**
   * Takes bytes whether there are as many or not, for one who is about to give back more: a page
   * lies beside its narrower form for a moment.
   */
  public void overdraw(long bytes) {
    usedBytes.addAndGet(bytes);
  }

  public void release(long bytes) {
    usedBytes.addAndGet(-bytes);
  }

  public void register(Reclaimable one) {
    reclaimables.add(one);
  }

  public void unregister(Reclaimable one) {
    reclaimables.remove(one);
  }
}
