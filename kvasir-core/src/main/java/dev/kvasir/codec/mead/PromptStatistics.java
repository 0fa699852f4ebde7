package dev.kvasir.codec.mead;

import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.memory.CopyOnWriteMemory;
import dev.kvasir.memory.MemoryPool;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * What a sequence has measured on its first page. Forks share the memory until one of them writes.
 *
 * <pre>
 * for each layer and KV head:
 *   f16  queries, rms over query heads that share the KV head   // (SAMPLES, keyDim)
 *        HeadStatistics, zeros until the page is quantized
 * </pre>
 *
 * Queries have a place by position, so that a position that is computed again, after an aborted
 * step or a cut, replaces what it had left.
 */
final class PromptStatistics {
  /** Number of positions whose queries are sampled. */
  static final int SAMPLES = 16;

  /** Larger magnitudes do not fit 16 bits. */
  private static final float MAX_MAGNITUDE = 65_504;

  private static final ValueLayout.OfShort HALF = ValueLayout.JAVA_SHORT_UNALIGNED;

  private final MeadSizes sizes;
  private CopyOnWriteMemory memory;

  PromptStatistics(MeadSizes sizes, MemoryPool pool) {
    this(sizes, new CopyOnWriteMemory(bytesFor(sizes), pool));
  }

  private PromptStatistics(MeadSizes sizes, CopyOnWriteMemory memory) {
    this.sizes = sizes;
    this.memory = memory;
  }

  static long bytesFor(MeadSizes sizes) {
    return sizes.layers() * sizes.kvHeads() * headBytes(sizes);
  }

  private static long headBytes(MeadSizes sizes) {
    return sampleBytes(sizes) + HeadStatistics.bytesFor(sizes);
  }

  private static long sampleBytes(MeadSizes sizes) {
    return (long) Short.BYTES * SAMPLES * sizes.keyDim();
  }

  private long headAt(int layer, int head) {
    return ((long) layer * sizes.kvHeads() + head) * headBytes(sizes);
  }

  /** Threads write to different samples or layers. */
  private synchronized MemorySegment writable() {
    memory = memory.writable();
    return memory.bytes();
  }

  /**
   * Stores the queries of a sampled position.
   *
   * @param queries (kvHeads, query heads per KV head, keyDim) from {@code at} on
   */
  void addQueries(int layer, int sample, float[] queries, int at, int queriesPerKvHead) {
    MemorySegment out = writable();
    int dim = sizes.keyDim();
    for (int head = 0; head < sizes.kvHeads(); head++) {
      int from = at + head * queriesPerKvHead * dim;
      long to = headAt(layer, head) + (long) Short.BYTES * sample * dim;
      for (int i = 0; i < dim; i++) {
        double sum = 0;
        for (int shared = 0; shared < queriesPerKvHead; shared++) {
          double q = queries[from + shared * dim + i];
          sum += q * q;
        }
        float magnitude = (float) Math.sqrt(sum / queriesPerKvHead);
        short half = Float.floatToFloat16(Math.min(magnitude, MAX_MAGNITUDE));
        out.set(HALF, to + (long) Short.BYTES * i, half);
      }
    }
  }

  /** Returns the mean square of the sampled queries by channel, in model order. // (keyDim) */
  double[] queryPower(int layer, int head) {
    int dim = sizes.keyDim();
    double[] power = new double[dim];
    for (int i = 0; i < SAMPLES * dim; i++) {
      short half = memory.bytes().get(HALF, headAt(layer, head) + (long) Short.BYTES * i);
      double magnitude = Float.float16ToFloat(half);
      power[i % dim] += magnitude * magnitude / SAMPLES;
    }
    return power;
  }

  void set(int layer, int head, HeadStatistics statistics) {
    statistics.write(writable(), headAt(layer, head) + sampleBytes(sizes));
  }

  HeadStatistics get(int layer, int head) {
    return HeadStatistics.read(sizes, memory.bytes(), headAt(layer, head) + sampleBytes(sizes));
  }

  long bytes() {
    return memory.bytes().byteSize();
  }

  void write(ByteBuffer out) {
    out.put(memory.bytes().asByteBuffer());
  }

  /** Reads what {@link #write} wrote; this object must be new. */
  void read(ByteBuffer in) {
    byte[] read = new byte[(int) memory.bytes().byteSize()];
    in.get(read);
    memory.bytes().copyFrom(MemorySegment.ofArray(read));
    for (int layer = 0; layer < sizes.layers(); layer++) {
      for (int head = 0; head < sizes.kvHeads(); head++) {
        if (!get(layer, head).isValid()) {
          throw SnapshotHeader.STATE.invalid(
              "has numbers for KV head %d of layer %d that no page leads to"
                  .formatted(head, layer));
        }
      }
    }
  }

  PromptStatistics fork() {
    return new PromptStatistics(sizes, memory.retain());
  }

  void close() {
    memory.release();
  }
}
