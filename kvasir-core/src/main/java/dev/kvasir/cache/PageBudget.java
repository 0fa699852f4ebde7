package dev.kvasir.cache;

import dev.kvasir.codec.CacheBudget;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.RequantizeScope;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.WorkerPool;

/**
 * The levels that let a cache keep to its budget. What dense blocks leave of it is divided among
 * layers in the ratio of their pages at the floor, so that all of them reach their floors at the
 * same length. A page more than there are is always counted: while a block is packed, its pages lie
 * beside it. What a method keeps beside blocks is taken as what it has from the beginning.
 */
final class PageBudget {
  private static final int TOKENS = KvCache.TOKENS_PER_PAGE;

  private final CacheBudget budget;
  private final CacheShape shape;
  private final CacheConfig settings;
  private final RequantizingCodec codec;
  private final long bytes; // of blocks
  private final long tableBytes; // beside blocks
  private final long floorBytes; // of a block's pages
  private final long denseBytes; // of a block before it is packed

  /**
   * @param settings with a budget, and a codec that shrinks
   */
  PageBudget(CacheShape shape, CacheConfig settings) {
    this.budget = settings.budget().orElseThrow();
    this.shape = shape;
    this.settings = settings;
    this.codec = (RequantizingCodec) settings.codec().orElseThrow();
    this.tableBytes = codec.tableBytes(0);
    this.bytes =
        budget.isMinimum()
            ? leastBytes(shape, settings, budget.tokens())
            : budget.bytes() - tableBytes;
    this.floorBytes = floorBytes(shape, codec);
    this.denseBytes = denseBytes(TOKENS);
  }

  /** Of a block's pages, as narrow as they can be. */
  private static long floorBytes(CacheShape shape, RequantizingCodec codec) {
    long sum = 0;
    for (int layer = 0; layer < shape.layers(); layer++) {
      sum += codec.pageBytes(layer, codec.floorLevel(layer));
    }
    return sum;
  }

  /** Refuses a budget that holds no token at all. */
  PageBudget requireCapacity() {
    if (capacity() == 0) {
      throw new InvalidInputException(
          "the cache '%s' has %d bytes; its first tokens take %d"
              .formatted(
                  budget.spec(),
                  bytes(),
                  tableBytes + denseBytes(settings.sinks()) + denseBytes + floorBytes));
    }
    return this;
  }

  /** All that the cache may take. */
  long bytes() {
    return bytes + tableBytes;
  }

  long denseBytes(long tokens) {
    return DenseBlock.bytesFor(shape, tokens, settings.precision());
  }

  WorkerPool workers() {
    return budget.workers();
  }

  RequantizeScope step() {
    return budget.scope();
  }

  int layers() {
    return shape.layers();
  }

  /** Whether so many sealed blocks fit at their floors, beside so many bytes that are dense. */
  boolean fits(int blocks, long dense) {
    return (blocks + 1) * floorBytes + dense <= bytes;
  }

  /** The widest levels at which a layer's pages fit; its floor if none does. */
  PageLevels levels(int layer, int blocks, long dense) {
    int floor = codec.floorLevel(layer);
    long available = (bytes - dense) * codec.pageBytes(layer, floor) / floorBytes;
    int level = 0;
    while (level < floor && (blocks + 1) * codec.pageBytes(layer, level) > available) {
      level++;
    }
    if (level == 0 || budget.scope() == RequantizeScope.LAYER) {
      return new PageLevels(level, 0);
    }
    long narrow = codec.pageBytes(layer, level);
    long wider = codec.pageBytes(layer, level - 1) - narrow;
    long wide = (available - (blocks + 1) * narrow) / wider;
    return wide < 1 ? new PageLevels(level, 0) : new PageLevels(level - 1, blocks + 1 - (int) wide);
  }

  /** Dense tokens, beside sinks, when a block is about to be packed. */
  private long fullResidual() {
    return Math.ceilDiv(settings.window() + TOKENS, TOKENS) * (long) TOKENS;
  }

  /** Tokens that fit, had they come one by one. */
  int capacity() {
    long sinks = denseBytes(settings.sinks());
    long beside = bytes - sinks - denseBytes(fullResidual());
    long quantized = Math.max(0, Math.floorDiv(beside, floorBytes));
    long free = bytes - sinks - (quantized + 1) * floorBytes;
    long tokens = free < 0 ? 0 : settings.sinks() + TOKENS * (quantized + free / denseBytes);
    return (int) Math.min(Integer.MAX_VALUE, tokens);
  }

  CacheFullException full(int length, int wanted) {
    return new CacheFullException(
        "the cache '%s' cannot take %d tokens after %d; its %d bytes hold %d at the most"
            .formatted(budget.spec(), wanted - length, length, bytes(), capacity()));
  }

  /** What a cache takes after so many tokens, had they come one by one. */
  CacheBytes bytesFor(int tokens) {
    if (tokens > capacity()) {
      throw full(0, tokens);
    }
    int rest = Math.max(0, tokens - settings.sinks());
    int blocks = Math.max(0, rest - settings.window()) / TOKENS;
    long sinks =
        denseBytes(Math.min(settings.sinks(), Math.ceilDiv(tokens, TOKENS) * (long) TOKENS));
    long window = denseBytes * Math.ceilDiv(rest - blocks * TOKENS, TOKENS);
    long codes = 0;
    long pages = 0;
    for (int layer = 0; blocks > 0 && layer < shape.layers(); layer++) {
      // Before the last block was packed, it was dense.
      PageLevels before = levels(layer, blocks - 1, sinks + denseBytes(fullResidual()));
      PageLevels levels = levels(layer, blocks, sinks + window).and(before);
      int older = levels.older();
      if (older > 0) {
        codes += older * codec.codeBytes(layer, levels.newest() + 1);
        pages += older * codec.pageBytes(layer, levels.newest() + 1);
      }
      codes += (blocks - older) * codec.codeBytes(layer, levels.newest());
      pages += (blocks - older) * codec.pageBytes(layer, levels.newest());
    }
    return new CacheBytes(codes, pages - codes, window, sinks, tableBytes);
  }

  /** The least that holds so many tokens in blocks. */
  private static long leastBytes(CacheShape shape, CacheConfig settings, int tokens) {
    RequantizingCodec codec = (RequantizingCodec) settings.codec().orElseThrow();
    long rest = Math.max(0, (long) tokens - settings.sinks());
    // The last token comes before a block is packed for it.
    long blocks = Math.max(0, rest - settings.window() - 1) / TOKENS;
    long dense = Math.ceilDiv(rest - blocks * TOKENS, (long) TOKENS);
    long denseBefore = blocks == 0 ? 0 : Math.ceilDiv(settings.window() + TOKENS, TOKENS);
    long floor = floorBytes(shape, codec);
    long denseBlock = DenseBlock.bytesFor(shape, TOKENS, settings.precision());
    return DenseBlock.bytesFor(shape, settings.sinks(), settings.precision())
        + Math.max(
            (blocks + 1) * floor + dense * denseBlock, blocks * floor + denseBefore * denseBlock);
  }
}
