package dev.kvasir.cuda.engine;

import dev.kvasir.cache.BlockView;
import dev.kvasir.cache.CacheBytes;
import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheRun;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.QuantizationTime;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.SequenceObserver;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.MemoryFullException;
import java.util.ArrayList;
import java.util.List;

/**
 * The KV cache of one sequence on a device. Tokens are stored as fp16 first. Blocks of 128 tokens,
 * as on the host, are quantized once they leave the residual window. Only the engine appends and
 * attends; vectors are not accessible from the host.
 */
public final class DeviceCache implements KvCache, DeviceSequence {
  private static final int TOKENS = SequencePages.TOKENS;
  private static final int BLOCK_PAGES = Fp16Page.BLOCK_PAGES;

  private final CacheResources resources;
  private final CacheShape shape;
  private final SequencePages pages;
  private int length;
  private boolean defersPrompts;
  private boolean quantizationDeferred;
  private boolean closed;

  DeviceCache(CacheResources resources, CacheShape shape) {
    this(resources, shape, new SequencePages(resources));
  }

  DeviceCache(CacheResources resources, CacheShape shape, SequencePages pages) {
    this.resources = resources;
    this.shape = shape;
    this.pages = pages;
  }

  /** Sets whether its spec asks to quantize prompts after their prefill; returns this cache. */
  DeviceCache deferringPrompts(boolean deferred) {
    defersPrompts = deferred;
    return this;
  }

  @Override
  public boolean defersPrompts() {
    return defersPrompts;
  }

  CacheResources resources() {
    return resources;
  }

  @Override
  public DeviceCache part(int card) {
    return this;
  }

  /** Returns the number of layers that it has. */
  int layers() {
    return shape.layers();
  }

  SequencePages pages() {
    return pages;
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public void pin() {}

  @Override
  public void unpin() {}

  @Override
  public void reserve(int wanted) {
    checkOpen();
    try {
      pages.reserve(length, wanted, quantizationDeferred);
    } catch (MemoryFullException | DeviceException e) {
      throw new CacheFullException(
          "the cache cannot take %d tokens after %d: %s"
              .formatted(wanted - length, length, e.getMessage()));
    }
  }

  @Override
  public int capacity() {
    return pages.capacity();
  }

  @Override
  public int stepCapacity(int tokens) {
    return pages.maxStep(length, tokens, quantizationDeferred);
  }

  @Override
  public void append(
      int layer, int position, float[] keys, int keysAt, float[] values, int valuesAt) {
    throw unreachable("appended to");
  }

  @Override
  public void commit(int positions) {
    checkOpen();
    if (positions < 0 || length + positions > pages.allocatedTokens()) {
      throw new IllegalArgumentException(
          "length would be %d; reserved are %d"
              .formatted(length + positions, pages.allocatedTokens()));
    }
    length += positions;
  }

  /** Appends tokens without writing their pages, for benchmarks. */
  public void appendDummy(int tokens) {
    for (int left = tokens; left > 0; left -= Math.min(left, BLOCK_PAGES * TOKENS)) {
      int some = Math.min(left, BLOCK_PAGES * TOKENS);
      reserve(length + some);
      pages.useDummyTables();
      commit(some);
      pages.replaceByPacked(BLOCK_PAGES * quantizableBlocks());
    }
  }

  @Override
  public void quantizeWindow() {
    checkOpen();
    int blocks = quantizableBlocks();
    if (blocks > 0) {
      pages.quantize(BLOCK_PAGES * blocks);
    }
  }

  @Override
  public boolean mustQuantize() {
    return quantizableBlocks() > 0;
  }

  /** Returns the number of blocks that have left the residual window. */
  private int quantizableBlocks() {
    if (!resources.quantizes() || quantizationDeferred) {
      return 0;
    }
    int behind =
        length
            - resources.cacheConfig().window()
            - resources.cacheConfig().sinks()
            - pages.packedTokens();
    int together = resources.cacheConfig().format().blocksPerRun();
    return Math.max(0, behind / (together * BLOCK_PAGES * TOKENS)) * together;
  }

  @Override
  public void deferQuantization(boolean held) {
    quantizationDeferred = held;
    quantizeWindow();
  }

  @Override
  public boolean prefillsOnStoredPages() {
    return resources.cacheConfig().format().isQuantizedByPosition();
  }

  @Override
  public int maxQueryRows() {
    return PageReader.PREFILL_ROWS;
  }

  @Override
  public SequenceObserver observer() {
    return SequenceObserver.NONE;
  }

  @Override
  public int retainable(int wanted) {
    checkOpen();
    if (wanted < 0 || wanted > length) {
      throw new IllegalArgumentException(
          "length is %d; expected 0 to %d".formatted(wanted, length));
    }
    return wanted;
  }

  @Override
  public int firstRetained(int layer) {
    return 0;
  }

  @Override
  public boolean isStateful() {
    return false;
  }

  @Override
  public boolean evicts(int layer) {
    return false;
  }

  @Override
  public void evict(int layer, int position) {
    throw unreachable("let go of");
  }

  @Override
  public void truncate(int wanted) {
    int retained = retainable(wanted);
    try {
      length = pages.truncate(retained);
    } catch (RuntimeException | Error e) {
      length = Math.min(retained, pages.allocatedTokens());
      throw e;
    }
  }

  @Override
  public KvCache fork() {
    checkOpen();
    try {
      DeviceCache fork = new DeviceCache(resources, shape, pages.fork(length));
      fork.length = length;
      fork.defersPrompts = defersPrompts;
      fork.quantizationDeferred = quantizationDeferred;
      return fork;
    } catch (MemoryFullException | DeviceException e) {
      throw new CacheFullException(
          "a sequence of %d tokens cannot be forked: %s".formatted(length, e.getMessage()));
    }
  }

  @Override
  public CacheSnapshot snapshot() {
    checkOpen();
    resources.cacheConfig().requireStorable(resources.cacheConfig().format().toString());
    return new DeviceSnapshot(resources, shape, pages, length);
  }

  @Override
  public int blockOf(int position) {
    int sinks = resources.cacheConfig().sinks();
    return position < sinks
        ? position / TOKENS_PER_PAGE
        : sinkBlocks() + (position - sinks) / TOKENS_PER_PAGE;
  }

  @Override
  public int firstPosition(int block) {
    return block < sinkBlocks()
        ? block * TOKENS_PER_PAGE
        : resources.cacheConfig().sinks() + (block - sinkBlocks()) * TOKENS_PER_PAGE;
  }

  private int sinkBlocks() {
    return Math.ceilDiv(resources.cacheConfig().sinks(), TOKENS_PER_PAGE);
  }

  @Override
  public BlockView view(int layer, int block) {
    throw unreachable("read");
  }

  private static InvalidInputException unreachable(String what) {
    return new InvalidInputException(
        "a cache on a device cannot be %s by the host; expected one on the CPU".formatted(what));
  }

  /** Returns zero: device time is not measured. */
  @Override
  public QuantizationTime quantizationTime() {
    return new QuantizationTime(0, 0, 0);
  }

  @Override
  public CacheBytes bytes() {
    long sinks = pages.sinkPages() * resources.fp16Pool().totalPageBytes();
    long window = pages.fp16Pages() * resources.fp16Pool().totalPageBytes() - sinks;
    if (!resources.quantizes()) {
      return new CacheBytes(0, 0, window, sinks, 0);
    }
    long codes = codeBytes();
    long reserved =
        pages.reservedPages() == 0
            ? 0
            : pages.reservedPages() * resources.packedPool().totalPageBytes();
    return new CacheBytes(
        codes,
        pages.packedBytes() - codes,
        window,
        sinks,
        reserved + pages.tablePages() * resources.tableBytes());
  }

  /** Returns the code bytes of packed pages. */
  private long codeBytes() {
    return pages.codeBytes(resources.cacheConfig().format().codeBytes(shape));
  }

  @Override
  public List<CacheRun> runs() {
    List<CacheRun> runs = new ArrayList<>();
    double values = (double) TOKENS * shape.valuesPerToken();
    double fp16Bits = Byte.SIZE * resources.fp16Pool().totalPageBytes() / values;
    int sinks = Math.min(length, resources.cacheConfig().sinks());
    if (sinks > 0) {
      double bits =
          Byte.SIZE * pages.sinkPages() * resources.fp16Pool().totalPageBytes() * TOKENS / values;
      runs.add(new CacheRun(sinks, fp16Bits, bits / sinks, CacheRun.Kind.SINKS));
    }
    int packed = pages.packedTokens();
    if (packed > 0) {
      double bits = (double) Byte.SIZE / packed / shape.valuesPerToken();
      runs.add(
          new CacheRun(
              packed, bits * codeBytes(), bits * pages.packedBytes(), CacheRun.Kind.PAGES));
    }
    if (length > sinks + packed) {
      runs.add(new CacheRun(length - sinks - packed, fp16Bits, fp16Bits, CacheRun.Kind.WINDOW));
    }
    return runs;
  }

  void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this cache is closed");
    }
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      length = 0;
      pages.truncate(0);
    }
  }
}
