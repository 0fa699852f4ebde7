package dev.kvasir.memory;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An arena for several who come and go, say the pages of a block: it is closed by the last who lets
 * go. To close an arena that threads share, all of them are stopped for a moment, so one serves as
 * many as possible.
 */
public final class SharedArena {
  private final CountedArena arena;
  private final AtomicInteger holders = new AtomicInteger(1);

  /** Held by whoever makes it. */
  public SharedArena(MemoryPool pool) {
    this(pool, 0);
  }

  /**
   * @param prepaid bytes that were taken from the pool beforehand, which are used first
   */
  public SharedArena(MemoryPool pool, long prepaid) {
    this(new CountedArena(pool, prepaid));
  }

  private SharedArena(CountedArena arena) {
    this.arena = arena;
  }

  /** Of as much memory as there is. */
  public SharedArena() {
    this(MemoryPool.unlimited());
  }

  /** Zeroed memory, aligned to a cache line. */
  public MemorySegment allocate(long bytes) {
    return arena.allocate(bytes);
  }

  /**
   * An arena of its own for what outlives the rest, from what was taken beforehand as far as that
   * goes; held by whoever asks.
   */
  public SharedArena apart(long bytes) {
    return new SharedArena(arena.apart(bytes));
  }

  /** Gives back what was taken beforehand and is not going to be used. */
  public void settle() {
    arena.settle();
  }

  /** Lets go of it for another one, with what is left of what was taken beforehand. */
  public SharedArena next() {
    SharedArena other = new SharedArena(arena.next());
    release();
    return other;
  }

  public SharedArena retain() {
    holders.incrementAndGet();
    return this;
  }

  public void release() {
    if (holders.decrementAndGet() == 0) {
      arena.close();
    }
  }
}
