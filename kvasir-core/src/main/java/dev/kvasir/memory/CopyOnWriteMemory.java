package dev.kvasir.memory;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/** Reference-counted memory that forks share until one of them writes to it. */
public final class CopyOnWriteMemory {
  private final MemoryPool pool;
  private final CountedArena arena;
  private final MemorySegment bytes;
  private final AtomicInteger refCount = new AtomicInteger(1);

  /** Allocates zeroed memory with one reference. */
  public CopyOnWriteMemory(long byteSize, MemoryPool pool) {
    this.pool = pool;
    this.arena = new CountedArena(pool);
    try {
      this.bytes = arena.allocate(byteSize);
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  public MemorySegment bytes() {
    return bytes;
  }

  /** Returns whether there is more than one reference. */
  public boolean isShared() {
    return refCount.get() > 1;
  }

  public CopyOnWriteMemory retain() {
    refCount.incrementAndGet();
    return this;
  }

  public void release() {
    if (refCount.decrementAndGet() == 0) {
      arena.close();
    }
  }

  /** Returns this if there is no other reference; otherwise a copy, and releases this. */
  public CopyOnWriteMemory writable() {
    if (refCount.get() == 1) {
      return this;
    }
    CopyOnWriteMemory copy = new CopyOnWriteMemory(bytes.byteSize(), pool);
    copy.bytes.copyFrom(bytes);
    release();
    return copy;
  }
}
