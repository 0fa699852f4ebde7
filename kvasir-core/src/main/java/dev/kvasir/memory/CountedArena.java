package dev.kvasir.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Off-heap memory whose bytes are counted where they are taken, so that an account of them is what
 * is allocated and not an estimate. Closing gives all of it back; use after that throws.
 */
public final class CountedArena implements SegmentAllocator, AutoCloseable {
  /** A cache line, and the widest vector register. */
  private static final long ALIGNMENT = 64;

  private static final AtomicLong LIVE_ARENAS = new AtomicLong();
  private static final AtomicLong LIVE_BYTES = new AtomicLong();
  private static final AtomicLong MOST_BYTES = new AtomicLong();

  private final Arena arena = Arena.ofShared();
  private final AtomicLong bytes = new AtomicLong();

  public CountedArena() {
    LIVE_ARENAS.incrementAndGet();
  }

  /** Zeroed memory, aligned to a cache line at the least. */
  @Override
  public MemorySegment allocate(long byteSize, long byteAlignment) {
    MemorySegment segment = arena.allocate(byteSize, Math.max(byteAlignment, ALIGNMENT));
    bytes.addAndGet(byteSize);
    MOST_BYTES.accumulateAndGet(LIVE_BYTES.addAndGet(byteSize), Math::max);
    return segment;
  }

  /** What this arena has handed out. */
  public long bytes() {
    return bytes.get();
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
      LIVE_ARENAS.decrementAndGet();
      LIVE_BYTES.addAndGet(-bytes.getAndSet(0));
    }
  }

  /** Arenas of the whole process that are still open. */
  public static long liveArenas() {
    return LIVE_ARENAS.get();
  }

  /** Bytes of the whole process that are still taken. */
  public static long liveBytes() {
    return LIVE_BYTES.get();
  }

  /** The most that were taken at once since {@link #watchMostBytes}. */
  public static long mostBytes() {
    return MOST_BYTES.get();
  }

  /** Forgets what was taken earlier. */
  public static void watchMostBytes() {
    MOST_BYTES.set(LIVE_BYTES.get());
  }
}
