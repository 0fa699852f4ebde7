package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageCodec;

/** What a cache will take, by its settings alone. */
final class ByteEstimate {
  private static final int TOKENS = KvCache.TOKENS_PER_PAGE;

  private final CacheConfig settings;
  private final PageCodec codec; // null where nothing is packed
  private final BlockBoundaries boundaries;
  private final int blocksTogether;
  private final int tokens;

  private ByteEstimate(CacheConfig settings, int tokens) {
    this.settings = settings;
    this.codec = settings.codec().orElse(null);
    this.boundaries = new BlockBoundaries(settings.sinks());
    this.blocksTogether = settings.codec().map(PageCodec::blocksPerGroup).orElse(1);
    this.tokens = tokens;
  }

  /** What so many positions take once they are all held. */
  static CacheBytes of(CacheShape shape, CacheConfig settings, int tokens) {
    if (settings.budget().isPresent()) {
      return new PageBudget(shape, settings).requireCapacity().bytesFor(tokens);
    }
    return new ByteEstimate(settings, tokens).of(LayerGroups.of(shape, settings));
  }

  private CacheBytes of(LayerGroups groups) {
    long codes = 0;
    long pages = 0;
    long window = 0;
    long sinks = 0;
    int sinkEnd = Math.min(boundaries.sinkBlocks(), blocks());
    for (LayerGroup group : groups.all()) {
      int evicted = group.evictedBlocks(boundaries, tokens);
      int quantizedEnd =
          group.quantizes() ? boundaries.sinkBlocks() + quantizedBlocks() : boundaries.sinkBlocks();
      int quantized = quantizedEnd - Math.max(evicted, boundaries.sinkBlocks());
      if (quantized > 0) {
        codes += quantized * group.codeBytes(codec);
        pages += quantized * group.pageBytes(codec);
      }
      window += denseBytes(group, Math.max(evicted, quantizedEnd), blocks());
      sinks += denseBytes(group, evicted, sinkEnd);
    }
    return new CacheBytes(
        codes,
        pages - codes,
        window,
        sinks,
        codec == null ? 0 : codec.tableBytes(groups.anyQuantizes() ? quantizedBlocks() : 0));
  }

  /** Blocks whose first token has come. */
  private int blocks() {
    return tokens == 0 ? 0 : boundaries.blockOf(tokens - 1) + 1;
  }

  /** Of those behind the sinks, the ones that have been packed in layers that are. */
  private int quantizedBlocks() {
    int passed = Math.max(0, tokens - settings.sinks() - settings.window()) / TOKENS;
    return codec == null ? 0 : passed / blocksTogether * blocksTogether;
  }

  private long denseBytes(LayerGroup group, int first, int end) {
    return first >= end
        ? 0
        : denseBytes(group, boundaries.firstPosition(end) - boundaries.firstPosition(first));
  }

  private long denseBytes(LayerGroup group, long count) {
    return DenseBlock.bytesFor(group.shape(), count, settings.precision());
  }

  /**
   * What a sequence never exceeds until it has so many positions, what it sets aside included.
   *
   * @param stepTokens of a step at the most, which are packed at its end
   */
  static long max(CacheShape shape, CacheConfig settings, int tokens, int stepTokens) {
    ByteEstimate estimate = new ByteEstimate(settings, tokens);
    LayerGroups groups = LayerGroups.of(shape, settings);
    if (settings.budget().isPresent()) {
      // What is set aside for packing is no part of a sequence's own budget.
      long page = groups.get(0).pageBytes(estimate.codec);
      return new PageBudget(shape, settings).requireCapacity().bytes()
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
    long sinks = Math.min(settings.sinks(), Math.ceilDiv(tokens, TOKENS) * (long) TOKENS);
    long dense = maxDense(group, stepTokens);
    long numbers = denseBytes(group, sinks + dense * TOKENS);
    if (!group.quantizes()) {
      return numbers;
    }
    // Pages that can shrink count as narrow as they can be, once they are packed.
    long packed = Math.min(blocksAfterSinks(), group.maxBlocks(stepTokens)) - dense;
    return numbers
        + dense * group.pageBytes(codec)
        + Math.max(0, packed) * group.minPageBytes(codec);
  }

  /** Blocks behind the sinks. */
  private int blocksAfterSinks() {
    return Math.ceilDiv(Math.max(0, tokens - settings.sinks()), TOKENS);
  }

  /** Those of them that are not packed while a step runs. */
  private long maxDense(LayerGroup group, int stepTokens) {
    long held = Math.min(blocksAfterSinks(), group.maxBlocks(stepTokens));
    long recent = Math.ceilDiv(settings.window() + stepTokens, TOKENS) + blocksTogether;
    return group.quantizes() ? Math.min(held, recent) : held;
  }
}
