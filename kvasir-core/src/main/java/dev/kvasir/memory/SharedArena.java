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
  private final SharedMapping mapping; // null where all of it is memory of its own
  private final AtomicInteger refCount = new AtomicInteger(1);

  /** Held by whoever makes it. */
  public SharedArena(MemoryPool pool) {
    this(pool, 0);
  }

  /**
   * @param prepaid bytes that were taken from the pool beforehand, which are used first
   */
  public SharedArena(MemoryPool pool, long reserved) {
    this(new CountedArena(pool, reserved), null);
  }

  /**
   * Of what lies in a mapped file and stays there, and of memory for the rest. Bytes of the file
   * are taken from the pool as others are: they are held in memory as soon as they are read, and
   * who was let in must find room.
   */
  public SharedArena(MemoryPool pool, SharedMapping mapping) {
    this(new CountedArena(pool), mapping);
  }

  private SharedArena(CountedArena arena, SharedMapping mapping) {
    this.arena = arena;
    this.mapping = mapping == null ? null : mapping.retain();
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
   * What a segment holds: the segment itself, to be read, where it lies in the mapped file; else a
   * copy, aligned to a cache line.
   */
  public MemorySegment adopt(MemorySegment source) {
    if (mapping == null || !source.isNative()) {
      return arena.allocate(source.byteSize()).copyFrom(source);
    }
    arena.count(source.byteSize());
    return source.asReadOnly();
  }

  /** Whether it has to do with a mapped file, which nobody may write to. */
  public boolean isMapped() {
    return mapping != null;
  }

  /**
   * An arena of its own for what outlives the rest, from what was taken beforehand as far as that
   * goes; held by whoever asks.
   */
  public SharedArena split(long bytes) {
    return new SharedArena(arena.split(bytes), mapping);
  }

  /** Gives back what was taken beforehand and is not going to be used. */
  public void releaseUnused() {
    arena.releaseUnused();
  }

  /** Lets go of it for another one, with what is left of what was taken beforehand. */
  public SharedArena next() {
    SharedArena other = new SharedArena(arena.next(), mapping);
    release();
    return other;
  }

  public SharedArena retain() {
    refCount.incrementAndGet();
    return this;
  }

  public void release() {
    if (refCount.decrementAndGet() == 0) {
      arena.close();
      if (mapping != null) {
        mapping.release();
      }
    }
  }
}
