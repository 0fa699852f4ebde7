package dev.kvasir.memory;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A reference-counted arena, for example for the pages of a block; the last reference closes it.
 * Closing a shared arena briefly stops all threads, so one arena should serve many users.
 */
public final class SharedArena {
  private final CountedArena arena;
  private final SharedMapping mapping; // null if all memory is its own
  private final AtomicInteger refCount = new AtomicInteger(1);

  /** Creates an arena with one reference. */
  public SharedArena(MemoryPool pool) {
    this(pool, 0);
  }

  /**
   * @param reserved bytes acquired from the pool in advance, which are used first
   */
  public SharedArena(MemoryPool pool, long reserved) {
    this(new CountedArena(pool, reserved), null);
  }

  /**
   * Creates an arena for data that stays in a mapped file, and memory for the rest. Mapped bytes
   * count in the pool like others: they occupy memory as soon as they are read, and admitted
   * sequences rely on that memory.
   */
  public SharedArena(MemoryPool pool, SharedMapping mapping) {
    this(new CountedArena(pool), mapping);
  }

  private SharedArena(CountedArena arena, SharedMapping mapping) {
    this.arena = arena;
    this.mapping = mapping == null ? null : mapping.retain();
  }

  /** Creates an arena without a limit. */
  public SharedArena() {
    this(MemoryPool.unlimited());
  }

  /** Returns zeroed memory, aligned to a cache line. */
  public MemorySegment allocate(long bytes) {
    return arena.allocate(bytes);
  }

  /**
   * Returns a segment's contents: the segment itself, read-only, if it lies in the mapped file;
   * else a copy, aligned to a cache line.
   */
  public MemorySegment adopt(MemorySegment source) {
    if (mapping == null || !source.isNative()) {
      return arena.allocate(source.byteSize()).copyFrom(source);
    }
    arena.count(source.byteSize());
    return source.asReadOnly();
  }

  /** Returns whether it refers to a mapped file, which must not be written. */
  public boolean isMapped() {
    return mapping != null;
  }

  /**
   * Returns a separate arena, with one reference, for data that outlives the rest. It takes up to
   * {@code bytes} of the reserved bytes.
   */
  public SharedArena split(long bytes) {
    return new SharedArena(arena.split(bytes), mapping);
  }

  /** Releases reserved bytes that will not be used. */
  public void releaseUnused() {
    arena.releaseUnused();
  }

  /** Releases this arena and returns another with the remaining reserved bytes. */
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
