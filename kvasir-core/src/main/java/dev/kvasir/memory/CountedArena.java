package dev.kvasir.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An off-heap arena that counts the bytes it allocates, so that accounting is exact. Closing it
 * frees everything; later use throws.
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

  /** Creates an arena that acquires its bytes from a pool and releases them when it is closed. */
  public CountedArena(MemoryPool pool) {
    this(pool, 0);
  }

  /**
   * Creates an arena with bytes that were acquired from the pool in advance; they are used first.
   *
   * @param reserved bytes acquired in advance; unused ones are released on close or by {@link
   *     #releaseUnused}
   */
  public CountedArena(MemoryPool pool, long reserved) {
    this.pool = pool;
    this.reserved = new AtomicLong(reserved);
    LIVE_ARENAS.incrementAndGet();
  }

  /** Releases reserved bytes that will not be used. */
  void releaseUnused() {
    pool.release(reserved.getAndSet(0));
  }

  /** Returns another arena with the remaining reserved bytes. */
  CountedArena next() {
    return new CountedArena(pool, reserved.getAndSet(0));
  }

  /** Returns another arena with {@code byteSize} of the reserved bytes, or what is left of them. */
  CountedArena split(long byteSize) {
    long moved = Math.min(byteSize, reserved.get());
    reserved.addAndGet(-moved);
    return new CountedArena(pool, moved);
  }

  /** Acquires bytes from the reserved ones first. */
  private void acquire(long byteSize) {
    long used = Math.min(byteSize, reserved.get());
    pool.acquire(byteSize - used);
    reserved.addAndGet(-used);
  }

  /** Returns zeroed memory, aligned to at least a cache line. */
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

  /** Counts external memory until this arena is closed, as if it were allocated here. */
  void count(long byteSize) {
    acquire(byteSize);
    add(byteSize);
  }

  private void add(long byteSize) {
    bytes.addAndGet(byteSize);
    PEAK_BYTES.accumulateAndGet(LIVE_BYTES.addAndGet(byteSize), Math::max);
  }

  /** Returns the allocated bytes of this arena. */
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

  /** Returns the open arenas of the whole process. */
  public static long liveArenas() {
    return LIVE_ARENAS.get();
  }

  /** Returns the allocated bytes of the whole process. */
  public static long liveBytes() {
    return LIVE_BYTES.get();
  }

  /** Returns the peak of allocated bytes since {@link #resetPeakBytes}. */
  public static long peakBytes() {
    return PEAK_BYTES.get();
  }

  /** Resets the peak to the current bytes. */
  public static void resetPeakBytes() {
    PEAK_BYTES.set(LIVE_BYTES.get());
  }
}
