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
  public interface Yielding {
    /**
     * Levels at which {@link #yield} is asked, one after another: as many times as pages of any
     * method can become narrower.
     */
    int LEVELS = 6;

    /**
     * Gives back about so many bytes, or as many as it can without going below a level; called from
     * the thread of whoever needs them.
     *
     * @param level 0 is the widest: what is at it may become narrower, what is beyond it stays
     */
    void yield(int level, long bytes);
  }

  private final long limit;
  private final AtomicLong taken = new AtomicLong();
  private final AtomicLong most = new AtomicLong();
  private final List<Yielding> yielding = new CopyOnWriteArrayList<>();

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
  public long taken() {
    return taken.get();
  }

  /** The most that were ever taken at once. */
  public long most() {
    return most.get();
  }

  /** Takes bytes if there are as many, if need be from those who can yield. */
  public boolean tryTake(long bytes) {
    if (bytes == 0) {
      return true; // also where more is borrowed than there is
    }
    for (int level = 0; level < Yielding.LEVELS; level++) {
      if (takeFree(bytes)) {
        return true;
      }
      press(level, bytes);
    }
    return takeFree(bytes);
  }

  /** Asks one after another, until there is enough. */
  private void press(int level, long bytes) {
    for (Yielding one : yielding) {
      long missing = bytes - (limit - taken.get());
      if (missing > 0) {
        one.yield(level, missing);
      }
    }
  }

  private boolean takeFree(long bytes) {
    long before;
    do {
      before = taken.get();
      if (bytes > limit - before) {
        return false;
      }
    } while (!taken.compareAndSet(before, before + bytes));
    most.accumulateAndGet(before + bytes, Math::max);
    return true;
  }

  /**
   * Takes bytes or throws.
   *
   * @throws MemoryFullException where there are not as many; nothing has changed then
   */
  public void take(long bytes) {
    if (!tryTake(bytes)) {
      throw new MemoryFullException(bytes, taken.get(), limit);
    }
  }

  /**
   * Takes bytes whether there are as many or not, for one who is about to give back more: a page
   * lies beside its narrower form for a moment.
   */
  public void borrow(long bytes) {
    taken.addAndGet(bytes);
  }

  public void giveBack(long bytes) {
    taken.addAndGet(-bytes);
  }

  public void join(Yielding one) {
    yielding.add(one);
  }

  public void leave(Yielding one) {
    yielding.remove(one);
  }
}
