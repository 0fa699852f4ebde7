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
  private static final AtomicLong PEAK_BYTES = new AtomicLong();

  private final MemoryPool pool;
  private final AtomicLong reserved;
  private final Arena arena = Arena.ofShared();
  private final AtomicLong bytes = new AtomicLong();

  public CountedArena() {
    this(MemoryPool.unlimited());
  }

  /** Takes its memory from a pool, and gives it back when it is closed. */
  public CountedArena(MemoryPool pool) {
    this(pool, 0);
  }

  /**
   * The same with bytes that were taken from the pool beforehand, which are used first.
   *
   * @param prepaid what is not used of them is given back with the rest, or by {@link #settle}
   */
  public CountedArena(MemoryPool pool, long reserved) {
    this.pool = pool;
    this.reserved = new AtomicLong(reserved);
    LIVE_ARENAS.incrementAndGet();
  }

  /** Gives back what was taken beforehand and is not going to be used. */
  void releaseUnused() {
    pool.release(reserved.getAndSet(0));
  }

  /** Another one, with what is left of what was taken beforehand. */
  CountedArena next() {
    return new CountedArena(pool, reserved.getAndSet(0));
  }

  /** Another one, with so many bytes of what was taken beforehand, or what is left of it. */
  CountedArena split(long byteSize) {
    long moved = Math.min(byteSize, reserved.get());
    reserved.addAndGet(-moved);
    return new CountedArena(pool, moved);
  }

  /** From what was taken beforehand, as far as it goes. */
  private void acquire(long byteSize) {
    long used = Math.min(byteSize, reserved.get());
    pool.acquire(byteSize - used);
    reserved.addAndGet(-used);
  }

  /** Zeroed memory, aligned to a cache line at the least. */
  @Override
  public MemorySegment allocate(long byteSize, long byteAlignment) {
    acquire(byteSize);
    MemorySegment segment;
    try {
      segment = arena.allocate(byteSize, Math.max(byteAlignment, ALIGNMENT));
    } catch (RuntimeException | Error e) {
      pool.release(byteSize);
      throw e;
    }
    add(byteSize);
    return segment;
  }

  /** Counts what lies elsewhere until this arena is closed, as if it had handed it out. */
  void count(long byteSize) {
    acquire(byteSize);
    add(byteSize);
  }

  private void add(long byteSize) {
    bytes.addAndGet(byteSize);
    PEAK_BYTES.accumulateAndGet(LIVE_BYTES.addAndGet(byteSize), Math::max);
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
      long freed = bytes.getAndSet(0);
      LIVE_BYTES.addAndGet(-freed);
      pool.release(freed + reserved.getAndSet(0));
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

  /** The most that were taken at once since {@link #resetPeakBytes}. */
  public static long peakBytes() {
    return PEAK_BYTES.get();
  }

  /** Forgets what was taken earlier. */
  public static void resetPeakBytes() {
    PEAK_BYTES.set(LIVE_BYTES.get());
  }
}
