package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.QuantizationBatch;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.SequenceObserver;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.memory.MemoryFullException;
import dev.kvasir.memory.MemoryPool;
import java.util.ArrayList;
import java.util.List;

/**
 * A KV cache of blocks in host memory: attention sinks, then quantized pages, then the residual
 * window in full precision.
 *
 * <pre>
 * position 0        sinks         sinks + 128 * quantized                length
 *          | sinks  | quantized ... quantized | dense ... dense, the last filling |
 * </pre>
 *
 * A dense block is quantized, in all layers at once, when at least {@code window} tokens follow it.
 * Codecs may ask for several blocks at a time. The tokens of a running step are therefore always
 * read in full precision.
 *
 * <p>Layers with a sliding window retain only that window and evict earlier blocks ({@link
 * LayerGroup}).
 */
public final class PagedCache implements KvCache {
  private final CacheShape shape;
  private final CacheConfig config;
  private final BlockBoundaries boundaries;
  private final int sinkBlocks;
  private final SequenceCodec codec; // null if nothing is quantized
  private final BlockTable blocks;
  private final PageRequantizer requantizer; // null without a budget
  private final RequantizablePages requantizable; // null if pages are never requantized for others
  private final MemoryPool pool;
  private final int blocksTogether;
  private final boolean readsPromptsAsStored;
  private final int rowsTogether;
  private UncheckedBlocks unchecked; // null once every block has been checked
  private int length;
  private int quantizedEnd; // earlier blocks are sinks or quantized
  private boolean quantizationDeferred;
  private long learnNanos;
  private long quantizeNanos;
  private boolean closed;

  /** Creates a cache without a memory limit. */
  public PagedCache(CacheShape shape, CacheConfig config) {
    this(shape, config, MemoryPool.unlimited());
  }

  /**
   * @param pool provides all of its memory
   */
  public PagedCache(CacheShape shape, CacheConfig config, MemoryPool pool) {
    this(
        shape,
        config,
        pool,
        config.codec().map(made -> made.newSequence(pool)).orElse(null),
        budget(shape, config),
        newBlocks(shape, config, pool));
  }

  private static PageBudget budget(CacheShape shape, CacheConfig config) {
    return config.budget().map(any -> new PageBudget(shape, config).requireCapacity()).orElse(null);
  }

  private static BlockTable newBlocks(CacheShape shape, CacheConfig config, MemoryPool pool) {
    LayerGroups groups = LayerGroups.of(shape, config);
    return new BlockTable(groups, config.precision(), pool, config.codec().orElse(null));
  }

  private PagedCache(
      CacheShape shape,
      CacheConfig config,
      MemoryPool pool,
      SequenceCodec codec,
      PageBudget budget,
      BlockTable blocks) {
    this.shape = shape;
    this.config = config;
    this.pool = pool;
    this.codec = codec;
    this.blocks = blocks;
    this.boundaries = new BlockBoundaries(config.sinks());
    this.sinkBlocks = boundaries.sinkBlocks();
    this.blocksTogether = config.codec().map(PageCodec::blocksPerGroup).orElse(1);
    this.readsPromptsAsStored =
        config
            .codec()
            .map(PageCodec::prefersQuantizedPrefill)
            .orElse(config.precision() != Precision.F32);
    this.rowsTogether = config.codec().map(PageCodec::maxQueryRows).orElse(PageReader.PREFILL_ROWS);
    this.quantizedEnd = sinkBlocks;
    this.requantizer =
        budget == null ? null : new PageRequantizer(budget, (RequantizingSequence) codec, blocks);
    this.requantizable =
        budget == null && config.codec().orElse(null) instanceof RequantizingCodec requantizing
            ? new RequantizablePages(
                requantizing, (RequantizingSequence) codec, blocks, this::isIntact)
            : null;
    if (requantizable != null) {
      pool.register(requantizable);
    }
  }

  @Override
  public void pin() {
    if (requantizable != null) {
      requantizable.pin();
    }
  }

  @Override
  public void unpin() {
    if (requantizable != null) {
      requantizable.unpin();
    }
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public int firstPosition(int block) {
    return boundaries.firstPosition(block);
  }

  @Override
  public int blockOf(int position) {
    return boundaries.blockOf(position);
  }

  @Override
  public void reserve(int wanted) {
    checkOpen();
    checkBlocks();
    pin();
    try {
      if (requantizer != null && wanted > firstPosition(blocks.count())) {
        ensureCapacity(wanted);
      }
      allocateBlocks(wanted);
    } catch (MemoryFullException e) {
      throw new CacheFullException(
          "the cache cannot take %d tokens after %d: %s"
              .formatted(wanted - length, length, e.getMessage()));
    } finally {
      unpin();
    }
  }

  /**
   * Checks restored blocks. A step starts here, so damage ends one sequence and not the whole
   * batch.
   */
  private void checkBlocks() {
    if (unchecked != null) {
      unchecked.check();
    }
  }

  /** Returns whether no block is damaged. Damage is reported when the sequence continues. */
  private boolean isIntact() {
    try {
      checkBlocks();
      return true;
    } catch (InvalidInputException e) {
      return false;
    }
  }

  /**
   * Allocates the missing blocks. If a fork shares the block of the next token, this sequence gets
   * a copy of it. If the pool is too full for the copy and the fork has been closed meanwhile, none
   * is needed.
   */
  private void allocateBlocks(int wanted) {
    int next = blockOf(length);
    boolean copies = next < blocks.count() && blocks.isShared(next);
    try {
      allocateBlocks(wanted, copies ? next : -1);
    } catch (MemoryFullException e) {
      if (!copies || blocks.isShared(next)) {
        throw e;
      }
      allocateBlocks(wanted, -1);
    }
  }

  /**
   * @param copied a shared block that this sequence must copy; -1 for none
   */
  private void allocateBlocks(int wanted, int copied) {
    int missing = 0;
    while (firstPosition(blocks.count() + missing) < wanted) {
      missing++;
    }
    if (copied < 0 && missing == 0) {
      return;
    }
    int blockCount = blocks.count();
    int[] tokens = new int[missing];
    for (int i = 0; i < missing; i++) {
      tokens[i] = boundaries.capacity(blockCount + i);
    }
    blocks.allocate(copied, tokens, quantizable(blockCount + missing) - quantizable(blockCount));
  }

  /** Returns how many of the first {@code count} blocks are dense and will be quantized. */
  private int quantizable(int count) {
    return codec == null ? 0 : Math.max(0, count - quantizedEnd);
  }

  /** Requantizes pages until the coming dense blocks fit next to them. */
  private void ensureCapacity(int wanted) {
    PageBudget budget = requantizer.budget();
    if (stepCapacity(wanted - length) < wanted - length) {
      throw budget.full(length, wanted);
    }
    int added = firstPosition(blockOf(wanted - 1) + 1) - firstPosition(blocks.count());
    long addedBytes = budget.denseBytes(added);
    if (quantizationDeferred
        && requantizer.mustRequantizeFor(quantizedBlocks(), blocks.denseBytes() + addedBytes)) {
      quantizeBehindWindow();
    }
    requantizer.fit(quantizedBlocks(), blocks.denseBytes() + addedBytes);
  }

  private int quantizedBlocks() {
    return quantizedEnd - sinkBlocks;
  }

  @Override
  public int capacity() {
    return requantizer == null ? Integer.MAX_VALUE : requantizer.budget().capacity();
  }

  @Override
  public int stepCapacity(int tokens) {
    checkOpen();
    if (requantizer == null) {
      return tokens;
    }
    PageBudget budget = requantizer.budget();
    int quantizableBlocks = quantizationDeferred ? endOfQuantizable() - quantizedEnd : 0;
    int reserved = firstPosition(blocks.count());
    long dense =
        blocks.denseBytes() - budget.denseBytes((long) quantizableBlocks * TOKENS_PER_PAGE);
    int end = blocks.count();
    while (firstPosition(end) < length + (long) tokens
        && budget.fits(
            quantizedBlocks() + quantizableBlocks,
            dense + budget.denseBytes(firstPosition(end + 1) - reserved))) {
      end++;
    }
    return Math.min(tokens, firstPosition(end) - length);
  }

  @Override
  public void append(
      int layer, int position, float[] keys, int keysAt, float[] values, int valuesAt) {
    checkOpen();
    if (position < length || position >= firstPosition(blocks.count())) {
      throw new IllegalArgumentException(
          "position is %d; reserved are %d to %d"
              .formatted(position, length, firstPosition(blocks.count()) - 1));
    }
    int block = blockOf(position);
    int token = position - firstPosition(block);
    blocks.append(layer, block, token, position, keys, keysAt, values, valuesAt);
  }

  @Override
  public void commit(int positions) {
    checkOpen();
    if (positions < 0 || length + positions > firstPosition(blocks.count())) {
      throw new IllegalArgumentException(
          "length would be %d; reserved are %d"
              .formatted(length + positions, firstPosition(blocks.count())));
    }
    length += positions;
    if (codec != null) {
      codec.commit(length);
    }
  }

  @Override
  public void quantizeWindow() {
    checkOpen();
    if (quantizationDeferred) {
      return;
    }
    pin();
    try {
      if (codec != null) {
        quantizeBehindWindow();
      }
      blocks.evict(boundaries, length);
    } finally {
      unpin();
    }
  }

  @Override
  public boolean mustQuantize() {
    return codec != null && !quantizationDeferred && endOfQuantizable() > quantizedEnd;
  }

  /** Returns the first block that may not be quantized yet. */
  private int endOfQuantizable() {
    int end = quantizedEnd;
    while (firstPosition(end + blocksTogether) + (long) config.window() <= length) {
      end += blocksTogether;
    }
    return end;
  }

  private void quantizeBehindWindow() {
    int end = endOfQuantizable();
    if (end == quantizedEnd) {
      return;
    }
    long begin = System.nanoTime();
    if (blocks.groups().anyQuantizes()) {
      codec.learn(new Run(quantizedEnd, end - quantizedEnd));
    }
    long learned = System.nanoTime();
    long requantizedBefore = requantizeNanos();
    quantizeUpTo(end);
    learnNanos += learned - begin;
    quantizeNanos += System.nanoTime() - learned - (requantizeNanos() - requantizedBefore);
  }

  private long requantizeNanos() {
    return requantizer == null ? 0 : requantizer.nanos();
  }

  private void quantizeUpTo(int end) {
    while (quantizedEnd < end) {
      blocks.quantize(quantizedEnd, firstPosition(quantizedEnd), codec);
      quantizedEnd++;
      if (requantizer != null) {
        requantizer.fit(quantizedBlocks(), blocks.denseBytes());
      }
    }
  }

  /** The dense blocks from {@code first} on, before they are quantized. */
  private final class Run implements QuantizationBatch {
    private final int first;
    private final int blockCount;

    Run(int first, int blockCount) {
      this.first = first;
      this.blockCount = blockCount;
    }

    @Override
    public int position() {
      return firstPosition(first);
    }

    @Override
    public int blocks() {
      return blockCount;
    }

    @Override
    public boolean quantizes(int layer) {
      return blocks.groups().quantizes(layer);
    }

    @Override
    public void readBlock(int layer, int block, float[] keys, float[] values) {
      blocks.expandLayer(first + block, layer, keys, values);
    }
  }

  @Override
  public void deferQuantization(boolean deferred) {
    checkOpen();
    quantizationDeferred = deferred;
    quantizeWindow();
  }

  @Override
  public boolean prefillsOnStoredPages() {
    return readsPromptsAsStored;
  }

  @Override
  public int maxQueryRows() {
    return rowsTogether;
  }

  @Override
  public SequenceObserver observer() {
    checkOpen();
    return codec == null ? SequenceObserver.NONE : codec;
  }

  /**
   * {@inheritDoc} What a sliding-window layer has evicted cannot be recovered from other layers.
   */
  @Override
  public int retainable(int wanted) {
    checkOpen();
    if (wanted < 0 || wanted > length) {
      throw new IllegalArgumentException(
          "length is %d; expected 0 to %d".formatted(wanted, length));
    }
    return blocks.holdsWindows(boundaries, wanted) ? wanted : 0;
  }

  @Override
  public void truncate(int wanted) {
    int retained = retainable(wanted);
    if (retained > 0) {
      checkBlocks();
    }
    pin();
    try {
      truncateTo(retained);
      if (length == 0) {
        forgetUnchecked();
      }
    } finally {
      unpin();
    }
  }

  private void truncateTo(int wanted) {
    int retained = wanted == 0 ? 0 : blockOf(wanted - 1) + 1;
    length = wanted;
    quantizedEnd = Math.min(quantizedEnd, Math.max(retained, sinkBlocks));
    blocks.truncate(retained, quantizable(retained));
    boolean dequantizes =
        retained > 0 && wanted < firstPosition(retained) && blocks.isQuantized(retained - 1);
    if (requantizer != null) {
      int quantized = dequantizes ? quantizedBlocks() - 1 : quantizedBlocks();
      long added = dequantizes ? requantizer.budget().denseBytes(TOKENS_PER_PAGE) : 0;
      requantizer.restart(quantized, blocks.denseBytes() + added);
    }
    if (dequantizes) {
      dequantize(retained - 1);
    } else if (wanted > 0 && wanted < firstPosition(retained)) {
      // If no layer is quantized, a block behind the window is still in full precision.
      quantizedEnd = Math.min(quantizedEnd, Math.max(retained - 1, sinkBlocks));
    }
    if (!blocks.holdsWindows(boundaries, length)) {
      truncateTo(0);
    } else if (codec != null) {
      codec.truncate(length);
    }
  }

  /** Dequantizes a page that was cut, since it must take tokens again. */
  private void dequantize(int block) {
    quantizedEnd = block;
    if (!blocks.dequantize(block, length - firstPosition(block))) {
      length = firstPosition(block);
      blocks.truncate(block, quantizable(block));
    }
  }

  @Override
  public KvCache fork() {
    checkOpen();
    // Memory that was reserved and never filled is not worth sharing.
    int blockCount = length == 0 ? 0 : blockOf(length - 1) + 1;
    BlockTable shared = shared(blockCount);
    PagedCache fork =
        new PagedCache(
            shape,
            config,
            pool,
            codec == null ? null : codec.fork(),
            requantizer == null ? null : requantizer.budget(),
            shared);
    fork.length = length;
    fork.quantizedEnd = quantizedEnd;
    fork.quantizationDeferred = quantizationDeferred;
    fork.unchecked = unchecked == null ? null : unchecked.share();
    return fork;
  }

  private BlockTable shared(int blockCount) {
    try {
      return blocks.share(blockCount, quantizable(blockCount));
    } catch (MemoryFullException e) {
      throw new CacheFullException(
          "a sequence of %d tokens cannot be forked: %s".formatted(length, e.getMessage()));
    }
  }

  @Override
  public CacheSnapshot snapshot() {
    checkOpen();
    checkBlocks();
    int whole = codec == null ? wholeDenseBlocks() : quantizedBlocks();
    byte[] state = codec == null ? new byte[0] : codec.serializeState();
    return new LiveSnapshot(config, blocks, length, whole, state);
  }

  private int wholeDenseBlocks() {
    return Math.max(0, length - config.sinks()) / TOKENS_PER_PAGE;
  }

  /**
   * Restores a stored sequence, which continues bit-identically.
   *
   * @param pool provides all of its memory
   * @throws dev.kvasir.error.InvalidInputException if a bit has changed, or the cache was stored
   *     with other settings; the message is one sentence
   * @throws CacheFullException if the pool has too little memory
   */
  public static PagedCache restore(
      CacheShape shape, CacheConfig config, MemoryPool pool, CacheSnapshot snapshot) {
    CacheRestorer restorer =
        new CacheRestorer(LayerGroups.of(shape, config), config, pool, snapshot);
    PageBudget budget = budget(shape, config);
    try {
      PagedCache cache =
          new PagedCache(
              shape, config, pool, restorer.codec(), budget, newBlocks(shape, config, pool));
      return cache.restoreFrom(restorer);
    } catch (MemoryFullException e) {
      throw new CacheFullException(
          "a stored sequence of %d tokens cannot be held: %s"
              .formatted(restorer.length(), e.getMessage()));
    }
  }

  private PagedCache restoreFrom(CacheRestorer restorer) {
    pin();
    try {
      restorer.fill(blocks, codec);
      length = restorer.length();
      quantizedEnd = codec == null ? quantizedEnd : restorer.wholeEnd();
      unchecked = restorer.unchecked();
      return this;
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    } finally {
      unpin();
    }
  }

  @Override
  public BlockView view(int layer, int block) {
    checkOpen();
    checkBlocks();
    Block found = blocks.get(layer, block);
    if (found == null) {
      throw new IllegalStateException(
          "layer %d is read at position %d; it holds what follows %d"
              .formatted(layer, firstPosition(block), firstRetained(layer)));
    }
    return found.view(layer);
  }

  @Override
  public int firstRetained(int layer) {
    return firstPosition(blocks.ofLayer(layer).evicted());
  }

  @Override
  public boolean isStateful() {
    return codec != null && !(codec instanceof StatelessCodec);
  }

  @Override
  public boolean evicts(int layer) {
    return blocks.ofLayer(layer).group().isBounded();
  }

  @Override
  public void evict(int layer, int position) {
    checkOpen();
    if (position < 0 || position > length || position > 0 && !evicts(layer)) {
      throw new IllegalArgumentException(
          "layer %d cannot evict %d of %d tokens".formatted(layer, position, length));
    }
    if (position > 0) {
      blocks.ofLayer(layer).evict(blockOf(position - 1) + 1);
    }
  }

  @Override
  public QuantizationTime quantizationTime() {
    return new QuantizationTime(learnNanos, quantizeNanos, requantizeNanos());
  }

  @Override
  public CacheBytes bytes() {
    return blocks.bytes(sinkBlocks, codec == null ? 0 : codec.tableBytes());
  }

  @Override
  public List<CacheRun> runs() {
    List<CacheRun> runs = new ArrayList<>();
    for (int block = 0; firstPosition(block) < length; block++) {
      CacheRun run = run(block);
      if (!runs.isEmpty() && runs.getLast().isLike(run)) {
        runs.add(runs.removeLast().and(run.tokens()));
      } else {
        runs.add(run);
      }
    }
    return runs;
  }

  private CacheRun run(int block) {
    int tokens = boundaries.tokens(block, length);
    double values = (double) boundaries.capacity(block) * shape.valuesPerToken();
    CacheBytes bytes = blocks.bytesOf(block);
    if (block >= sinkBlocks && block < quantizedEnd && blocks.groups().anyQuantizes()) {
      double width = 8 * bytes.codes() / values;
      double bits = width + 8 * (bytes.scales() + bytes.window()) / values;
      return new CacheRun(tokens, width, bits, CacheRun.Kind.PAGES);
    }
    CacheRun.Kind kind = block < sinkBlocks ? CacheRun.Kind.SINKS : CacheRun.Kind.WINDOW;
    double bits = 8 * bytes.window() / values;
    return new CacheRun(tokens, bits, bits, kind);
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this cache is closed");
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    length = 0;
    if (requantizable != null) {
      pool.unregister(requantizable);
    }
    pin(); // another thread may be requantizing its pages
    try {
      if (codec != null) {
        codec.close();
      }
      blocks.truncate(0, 0);
      forgetUnchecked();
    } finally {
      unpin();
    }
  }

  private void forgetUnchecked() {
    UncheckedBlocks forgotten = unchecked;
    unchecked = null;
    if (forgotten != null) {
      forgotten.release();
    }
  }
}
