package dev.kvasir.codec.mixkvq;

import dev.kvasir.memory.ForkedMemory;
import dev.kvasir.memory.MemoryPool;
import java.lang.foreign.ValueLayout;

/**
 * A sum for each channel of a layer, in memory that forks share until one of them adds to it.
 *
 * <pre>
 * (kvHeads, keyDim)  f64
 * bytes = 8 * kvHeads * keyDim
 * </pre>
 */
final class ChannelSums {
  private ForkedMemory sums;

  ChannelSums(int channels, MemoryPool pool) {
    this(new ForkedMemory(bytesFor(channels), pool));
  }

  private ChannelSums(ForkedMemory sums) {
    this.sums = sums;
  }

  static long bytesFor(int channels) {
    return (long) Double.BYTES * channels;
  }

  void add(int channel, double more) {
    sums.bytes().set(ValueLayout.JAVA_DOUBLE, 8L * channel, of(channel) + more);
  }

  double of(int channel) {
    return sums.bytes().get(ValueLayout.JAVA_DOUBLE, 8L * channel);
  }

  void clear() {
    sums.bytes().fill((byte) 0);
  }

  ChannelSums fork() {
    return new ChannelSums(sums.retain());
  }

  /** To be called before sums change. */
  void own() {
    sums = sums.toWrite();
  }

  void release() {
    sums.release();
  }
}
