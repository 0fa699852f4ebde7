package dev.kvasir.codec.mixkvq;

import dev.kvasir.memory.CopyOnWriteMemory;
import dev.kvasir.memory.MemoryPool;
import java.lang.foreign.ValueLayout;

/**
 * A sum for each channel of a layer. Forks share the memory until one of them writes.
 *
 * <pre>
 * (kvHeads, keyDim)  f64
 * bytes = 8 * kvHeads * keyDim
 * </pre>
 */
final class ChannelSums {
  private CopyOnWriteMemory sums;

  ChannelSums(int channels, MemoryPool pool) {
    this(new CopyOnWriteMemory(bytesFor(channels), pool));
  }

  private ChannelSums(CopyOnWriteMemory sums) {
    this.sums = sums;
  }

  static long bytesFor(int channels) {
    return (long) Double.BYTES * channels;
  }

  void add(int channel, double more) {
    sums.bytes().set(ValueLayout.JAVA_DOUBLE, 8L * channel, get(channel) + more);
  }

  double get(int channel) {
    return sums.bytes().get(ValueLayout.JAVA_DOUBLE, 8L * channel);
  }

  void clear() {
    sums.bytes().fill((byte) 0);
  }

  ChannelSums fork() {
    return new ChannelSums(sums.retain());
  }

  /** Makes the memory private. Must be called before sums change. */
  void makeWritable() {
    sums = sums.writable();
  }

  void release() {
    sums.release();
  }
}
