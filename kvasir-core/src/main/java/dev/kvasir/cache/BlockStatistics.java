package dev.kvasir.cache;

import java.util.ArrayList;
import java.util.List;

/** The sizes of a sequence's blocks. */
record BlockStatistics(BlockTable blocks) {
  /**
   * @param tables bytes of a method's data outside of pages
   */
  CacheBytes bytes(long tables) {
    long codes = 0;
    long scales = 0;
    for (int block = 0; block < blocks.count(); block++) {
      CacheBytes bytes = bytesOf(block);
      codes += bytes.codes();
      scales += bytes.scales();
    }
    long sinks = blocks.denseBytesBefore(blocks.pool().boundaries().sinkBlocks());
    return new CacheBytes(codes, scales, blocks.denseBytes() - sinks, sinks, tables);
  }

  /** Returns the bytes of one block; dense bytes count as window, even those of sinks. */
  private CacheBytes bytesOf(int index) {
    long codes = 0;
    long scales = 0;
    long dense = 0;
    for (Block block : blocks.row(index)) {
      if (block instanceof QuantizedBlock quantized) {
        codes += quantized.codeBytes();
        scales += quantized.scaleBytes();
      } else if (block instanceof DenseBlock numbers) {
        dense += numbers.bytes();
      }
    }
    return new CacheBytes(codes, scales, dense, 0, 0);
  }

  /**
   * Returns the tokens grouped by representation.
   *
   * @param windowBegin first block that is neither a sink nor quantized
   */
  List<CacheRun> runs(int length, int windowBegin) {
    List<CacheRun> runs = new ArrayList<>();
    for (int block = 0; blocks.pool().boundaries().firstPosition(block) < length; block++) {
      CacheRun run = run(block, length, windowBegin);
      if (!runs.isEmpty() && runs.getLast().isLike(run)) {
        runs.add(runs.removeLast().and(run.tokens()));
      } else {
        runs.add(run);
      }
    }
    return runs;
  }

  private CacheRun run(int block, int length, int windowBegin) {
    BlockBoundaries boundaries = blocks.pool().boundaries();
    int tokens = boundaries.tokens(block, length);
    double values = (double) boundaries.capacity(block) * blocks.groups().shape().valuesPerToken();
    CacheBytes bytes = bytesOf(block);
    boolean isSink = block < boundaries.sinkBlocks();
    if (!isSink && block < windowBegin && blocks.groups().anyQuantizes()) {
      double width = 8 * bytes.codes() / values;
      double bits = width + 8 * (bytes.scales() + bytes.window()) / values;
      return new CacheRun(tokens, width, bits, CacheRun.Kind.PAGES);
    }
    double bits = 8 * bytes.window() / values;
    return new CacheRun(tokens, bits, bits, isSink ? CacheRun.Kind.SINKS : CacheRun.Kind.WINDOW);
  }
}
