package dev.kvasir.codec.mixkvq;

import dev.kvasir.memory.CountedArena;
import dev.kvasir.memory.MemoryPool;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A sum for each channel of a layer, in memory that forks share until one of them adds to it.
 *
 * <pre>
 * (kvHeads, keyDim)  f64
 * bytes = 8 * kvHeads * keyDim
 * </pre>
 */
final class ChannelSums {
  private final MemoryPool pool;
  private final CountedArena arena;
  private final MemorySegment sums;
  private final int channels;
  private final AtomicInteger holders = new AtomicInteger(1);

  ChannelSums(int channels, MemoryPool pool) {
    this.pool = pool;
    this.arena = new CountedArena(pool);
    this.channels = channels;
    try {
      this.sums = arena.allocate(bytesFor(channels));
    } catch (RuntimeException | Error e) {
      arena.close();
      throw e;
    }
  }

  static long bytesFor(int channels) {
    return (long) Double.BYTES * channels;
  }

  void add(int channel, double more) {
    sums.set(ValueLayout.JAVA_DOUBLE, 8L * channel, of(channel) + more);
  }

  double of(int channel) {
    return sums.get(ValueLayout.JAVA_DOUBLE, 8L * channel);
  }

  void clear() {
    sums.fill((byte) 0);
  }

  ChannelSums retain() {
    holders.incrementAndGet();
    return this;
  }

  void release() {
    if (holders.decrementAndGet() == 0) {
      arena.close();
    }
  }

  /** These, where nobody else holds them; otherwise a copy, and these are let go. */
  ChannelSums toWrite() {
    if (holders.get() == 1) {
      return this;
    }
    ChannelSums copy = new ChannelSums(channels, pool);
    copy.sums.copyFrom(sums);
    release();
    return copy;
  }
}
