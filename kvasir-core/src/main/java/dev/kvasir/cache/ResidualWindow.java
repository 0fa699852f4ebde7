package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.QuantizationBatch;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;

/**
 * The residual window of a sequence: the blocks after the sinks and the quantized blocks. A block
 * leaves it, in all layers at once, when at least {@code window} tokens follow it. Codecs may ask
 * for several blocks at a time.
 */
final class ResidualWindow {
  private static final Kernels KERNELS = new ScalarKernels();

  private final BlockTable blocks;
  private final BlockBoundaries boundaries;
  private final SequenceCodec codec; // null if nothing is quantized
  private final PageRequantizer requantizer; // null without a budget
  private final int tokens; // minimum that stay dense
  private final int blocksTogether;
  private int begin;
  private long learnNanos;
  private long quantizeNanos;

  ResidualWindow(
      CacheConfig config, BlockTable blocks, SequenceCodec codec, PageRequantizer requantizer) {
    this.blocks = blocks;
    this.boundaries = blocks.pool().boundaries();
    this.codec = codec;
    this.requantizer = requantizer;
    this.tokens = config.window();
    this.blocksTogether = config.codec().map(PageCodec::blocksPerGroup).orElse(1);
    this.begin = boundaries.sinkBlocks();
  }

  /** Returns its first block: earlier ones are sinks or quantized. */
  int begin() {
    return begin;
  }

  /** Moves its begin, for a restored or a truncated sequence. */
  void setBegin(int block) {
    begin = block;
  }

  /** Moves its begin back to a block, but not before the end of the sinks. */
  void moveBack(int block) {
    begin = Math.min(begin, Math.max(block, boundaries.sinkBlocks()));
  }

  int quantizedBlocks() {
    return begin - boundaries.sinkBlocks();
  }

  /** Returns how many of its first blocks may be quantized in a sequence of some length. */
  int quantizableBlocks(int length) {
    int end = begin;
    while (codec != null
        && boundaries.firstPosition(end + blocksTogether) + (long) tokens <= length) {
      end += blocksTogether;
    }
    return end - begin;
  }

  /** Returns the minimum length at which blocks may be quantized. */
  int nextQuantization() {
    return codec == null
        ? Integer.MAX_VALUE
        : Math.clamp(
            boundaries.firstPosition(begin + blocksTogether) + (long) tokens, 0, Integer.MAX_VALUE);
  }

  /** Quantizes the blocks that have left the window of a sequence of some length. */
  void quantize(int length) {
    int count = quantizableBlocks(length);
    if (count == 0) {
      return;
    }
    long started = System.nanoTime();
    if (blocks.groups().anyQuantizes()) {
      codec.learn(new Batch(begin, count));
    }
    long learned = System.nanoTime();
    long requantizedBefore = requantizeNanos();
    int end = begin + count;
    while (begin < end) {
      blocks.quantize(begin, boundaries.firstPosition(begin), codec);
      begin++;
      if (requantizer != null) {
        requantizer.fit(quantizedBlocks(), blocks.denseBytes());
      }
    }
    learnNanos += learned - started;
    quantizeNanos += System.nanoTime() - learned - (requantizeNanos() - requantizedBefore);
  }

  private long requantizeNanos() {
    return requantizer == null ? 0 : requantizer.nanos();
  }

  QuantizationTime time() {
    return new QuantizationTime(learnNanos, quantizeNanos, requantizeNanos());
  }

  /** The dense blocks from {@code first} on, before they are quantized. */
  private final class Batch implements QuantizationBatch {
    private final int first;
    private final int count;

    Batch(int first, int count) {
      this.first = first;
      this.count = count;
    }

    @Override
    public int position() {
      return boundaries.firstPosition(first);
    }

    @Override
    public int blocks() {
      return count;
    }

    @Override
    public boolean quantizes(int layer) {
      return blocks.groups().quantizes(layer);
    }

    @Override
    public void readBlock(int layer, int block, float[] keys, float[] values) {
      blocks.dense(layer, first + block).expandLayer(KERNELS, layer, keys, values);
    }
  }
}
