package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageCodec;

/** Estimates the memory of a cache from its configuration alone. */
final class ByteEstimate {
  private static final int TOKENS = KvCache.TOKENS_PER_PAGE;

  private final CacheConfig config;
  private final PageCodec codec; // null if nothing is quantized
  private final BlockBoundaries boundaries;
  private final int blocksTogether;
  private final int tokens;

  private ByteEstimate(CacheConfig config, int tokens) {
    this.config = config;
    this.codec = config.codec().orElse(null);
    this.boundaries = new BlockBoundaries(config.sinks());
    this.blocksTogether = config.codec().map(PageCodec::blocksPerGroup).orElse(1);
    this.tokens = tokens;
  }

  /** Returns the bytes of {@code tokens} committed positions. */
  static CacheBytes of(CacheShape shape, CacheConfig config, int tokens) {
    if (config.budget().isPresent()) {
      return new PageBudget(shape, config).requireCapacity().bytesFor(tokens);
    }
    return new ByteEstimate(config, tokens).of(LayerGroups.of(shape, config));
  }

  private CacheBytes of(LayerGroups groups) {
    long codes = 0;
    long pages = 0;
    long window = 0;
    long sinks = 0;
    int sinkEnd = Math.min(boundaries.sinkBlocks(), boundaries.blocks(tokens));
    for (LayerGroup group : groups.all()) {
      int evicted = group.evictedBlocks(boundaries, tokens);
      int quantizedEnd =
          group.quantizes() ? boundaries.sinkBlocks() + quantizedBlocks() : boundaries.sinkBlocks();
      int quantized = quantizedEnd - Math.max(evicted, boundaries.sinkBlocks());
      if (quantized > 0) {
        codes += quantized * group.codeBytes(codec);
        pages += quantized * group.pageBytes(codec);
      }
      window += denseBytes(group, Math.max(evicted, quantizedEnd), boundaries.blocks(tokens));
      sinks += denseBytes(group, evicted, sinkEnd);
    }
    return new CacheBytes(
        codes,
        pages - codes,
        window,
        sinks,
        codec == null ? 0 : codec.tableBytes(groups.anyQuantizes() ? quantizedBlocks() : 0));
  }

  /** Returns how many blocks after the sinks are quantized, in layers that are quantized. */
  private int quantizedBlocks() {
    int passed = Math.max(0, tokens - config.sinks() - config.window()) / TOKENS;
    return codec == null ? 0 : passed / blocksTogether * blocksTogether;
  }

  private long denseBytes(LayerGroup group, int first, int end) {
    return first >= end
        ? 0
        : denseBytes(group, boundaries.firstPosition(end) - boundaries.firstPosition(first));
  }

  private long denseBytes(LayerGroup group, long count) {
    return DenseBlock.bytesFor(group.shape(), count, config.precision());
  }

  /**
   * Returns the bytes that a sequence never exceeds up to {@code tokens} positions, reserved bytes
   * included.
   *
   * @param stepTokens maximum tokens of a step, which are quantized at its end
   */
  static long max(CacheShape shape, CacheConfig config, int tokens, int stepTokens) {
    ByteEstimate estimate = new ByteEstimate(config, tokens);
    LayerGroups groups = LayerGroups.of(shape, config);
    if (config.budget().isPresent()) {
      // Bytes reserved for quantization are not part of a sequence's own budget.
      long page = groups.get(0).pageBytes(estimate.codec);
      return new PageBudget(shape, config).requireCapacity().bytes()
          + estimate.maxDense(groups.get(0), stepTokens) * page;
    }
    long bytes =
        estimate.codec == null ? 0 : estimate.codec.tableBytes(estimate.blocksAfterSinks());
    for (LayerGroup group : groups.all()) {
      bytes += estimate.max(group, stepTokens);
    }
    return bytes;
  }

  private long max(LayerGroup group, int stepTokens) {
    long sinks = Math.min(config.sinks(), Math.ceilDiv(tokens, TOKENS) * (long) TOKENS);
    long dense = maxDense(group, stepTokens);
    long numbers = denseBytes(group, sinks + dense * TOKENS);
    if (!group.quantizes()) {
      return numbers;
    }
    // Pages that can be requantized count with their minimum width once they are quantized.
    long quantized = Math.min(blocksAfterSinks(), group.maxBlocks(stepTokens)) - dense;
    return numbers
        + dense * group.pageBytes(codec)
        + Math.max(0, quantized) * group.minPageBytes(codec);
  }

  private int blocksAfterSinks() {
    return Math.ceilDiv(Math.max(0, tokens - config.sinks()), TOKENS);
  }

  /** Returns how many of the blocks after the sinks are dense while a step runs. */
  private long maxDense(LayerGroup group, int stepTokens) {
    long retained = Math.min(blocksAfterSinks(), group.maxBlocks(stepTokens));
    long recent = Math.ceilDiv(config.window() + stepTokens, TOKENS) + blocksTogether;
    return group.quantizes() ? Math.min(retained, recent) : retained;
  }
}
