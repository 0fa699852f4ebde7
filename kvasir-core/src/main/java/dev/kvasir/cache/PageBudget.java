package dev.kvasir.cache;

import dev.kvasir.codec.CacheBudget;
import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.RequantizeScope;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.WorkerPool;

/**
 * The levels at which a cache stays within its budget. The bytes that dense blocks leave are
 * divided among layers in proportion to their pages at the floor level. All layers therefore reach
 * their floors at the same length. One extra page per layer always counts, since a block's pages
 * exist next to it while it is quantized. A method's tables count with their initial size.
 */
final class PageBudget {
  private static final int TOKENS = KvCache.TOKENS_PER_PAGE;

  private final CacheBudget budget;
  private final CacheShape shape;
  private final CacheConfig config;
  private final RequantizingCodec codec;
  private final long bytes; // of blocks
  private final long tableBytes; // outside of blocks
  private final long floorBytes; // of a block's pages
  private final long denseBytes; // of a block before it is quantized

  /**
   * @param config a configuration with a budget and a codec that requantizes
   */
  PageBudget(CacheShape shape, CacheConfig config) {
    this.budget = config.budget().orElseThrow();
    this.shape = shape;
    this.config = config;
    this.codec = (RequantizingCodec) config.codec().orElseThrow();
    this.tableBytes = codec.tableBytes(0);
    this.floorBytes = floorBytes(shape, codec);
    this.bytes =
        budget.isMinimum()
            ? CacheBudget.minimumBytes(shape, config, budget.tokens(), floorBytes)
            : budget.bytes() - tableBytes;
    this.denseBytes = denseBytes(TOKENS);
  }

  /** Returns the bytes of a block's pages at their floor levels. */
  private static long floorBytes(CacheShape shape, RequantizingCodec codec) {
    long sum = 0;
    for (int layer = 0; layer < shape.layers(); layer++) {
      sum += codec.pageBytes(layer, codec.floorLevel(layer));
    }
    return sum;
  }

  /** Rejects a budget that holds no token at all. */
  PageBudget requireCapacity() {
    if (capacity() == 0) {
      throw new InvalidInputException(
          "the cache '%s' has %d bytes; its first tokens take %d"
              .formatted(
                  budget.spec(),
                  bytes(),
                  tableBytes + denseBytes(config.sinks()) + denseBytes + floorBytes));
    }
    return this;
  }

  /** Returns the maximum bytes of the cache. */
  long bytes() {
    return bytes + tableBytes;
  }

  long denseBytes(long tokens) {
    return DenseBlock.bytesFor(shape, tokens, config.precision());
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

  /**
   * Returns whether {@code blocks} quantized blocks fit at their floors next to {@code dense}
   * bytes.
   */
  boolean fits(int blocks, long dense) {
    return (blocks + 1) * floorBytes + dense <= bytes;
  }

  /** Returns the widest levels at which a layer's pages fit; its floor if none does. */
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

  /** Returns the dense tokens, without sinks, just before a block is quantized. */
  private long fullResidual() {
    return Math.ceilDiv(config.window() + TOKENS, TOKENS) * (long) TOKENS;
  }

  /** Returns how many tokens fit when they are appended one by one. */
  int capacity() {
    long sinks = denseBytes(config.sinks());
    long remaining = bytes - sinks - denseBytes(fullResidual());
    long quantized = Math.max(0, Math.floorDiv(remaining, floorBytes));
    long free = bytes - sinks - (quantized + 1) * floorBytes;
    long tokens = free < 0 ? 0 : config.sinks() + TOKENS * (quantized + free / denseBytes);
    return (int) Math.min(Integer.MAX_VALUE, tokens);
  }

  CacheFullException full(int length, int wanted) {
    return new CacheFullException(
        "the cache '%s' cannot take %d tokens after %d; its %d bytes hold %d at the most"
            .formatted(budget.spec(), wanted - length, length, bytes(), capacity()));
  }

  /** Returns the bytes after {@code tokens} tokens that were appended one by one. */
  CacheBytes bytesFor(int tokens) {
    if (tokens > capacity()) {
      throw full(0, tokens);
    }
    int rest = Math.max(0, tokens - config.sinks());
    int blocks = Math.max(0, rest - config.window()) / TOKENS;
    long sinks = denseBytes(Math.min(config.sinks(), Math.ceilDiv(tokens, TOKENS) * (long) TOKENS));
    long window = denseBytes * Math.ceilDiv(rest - blocks * TOKENS, TOKENS);
    long codes = 0;
    long pages = 0;
    for (int layer = 0; blocks > 0 && layer < shape.layers(); layer++) {
      // The last block was dense before it was quantized.
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
}
