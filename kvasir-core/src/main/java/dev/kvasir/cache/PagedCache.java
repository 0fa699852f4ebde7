package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.RequantizingCodec;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.SequenceObserver;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.error.InvalidInputException;
import dev.kvasir.memory.MemoryFullException;
import dev.kvasir.memory.MemoryPool;
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
 * Blocks are quantized once they leave the {@link ResidualWindow}, between steps. The tokens of a
 * running step are therefore always read in full precision.
 *
 * <p>Layers with a sliding window retain only that window and evict earlier blocks ({@link
 * LayerGroup}).
 */
public final class PagedCache implements KvCache {
  private final CacheConfig config;
  private final BlockBoundaries boundaries;
  private final SequenceCodec codec; // null if nothing is quantized
  private final BlockTable blocks;
  private final ResidualWindow window;
  private final PageRequantizer requantizer; // null without a budget
  private final RequantizablePages requantizable; // null if pages are never requantized for others
  private final PrefillLayout prefill;
  private final int headsPerPass;
  private final DraftObserver draft;
  private UncheckedBlocks unchecked; // null once every block has been checked
  private int length;
  private boolean quantizationDeferred;
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
        config,
        config.codec().map(made -> made.newSequence(pool)).orElse(null),
        budget(shape, config),
        new BlockTable(new BlockPool(shape, config, pool)));
  }

  private static PageBudget budget(CacheShape shape, CacheConfig config) {
    return config.budget().map(any -> new PageBudget(shape, config).requireCapacity()).orElse(null);
  }

  private PagedCache(
      CacheConfig config, SequenceCodec codec, PageBudget budget, BlockTable blocks) {
    this.config = config;
    this.codec = codec;
    this.blocks = blocks;
    this.boundaries = blocks.pool().boundaries();
    PageCodec pageCodec = config.codec().orElse(null);
    this.prefill = PrefillLayout.of(config);
    this.headsPerPass = pageCodec == null ? 1 : pageCodec.headsPerPass();
    this.draft = new DraftObserver(blocks.groups().shape(), codec);
    this.requantizer =
        budget == null ? null : new PageRequantizer(budget, (RequantizingSequence) codec, blocks);
    this.window = new ResidualWindow(config, blocks, codec, requantizer);
    this.requantizable =
        budget == null && pageCodec instanceof RequantizingCodec requantizing
            ? new RequantizablePages(
                requantizing, (RequantizingSequence) codec, blocks, this::isIntact)
            : null;
    if (requantizable != null) {
      blocks.pool().memory().register(requantizable);
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
      blocks.allocate(length, wanted, window.begin());
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

  /** Requantizes pages until the coming dense blocks fit next to them. */
  private void ensureCapacity(int wanted) {
    PageBudget budget = requantizer.budget();
    if (stepCapacity(wanted - length) < wanted - length) {
      throw budget.full(length, wanted);
    }
    int added = firstPosition(blockOf(wanted - 1) + 1) - firstPosition(blocks.count());
    long addedBytes = budget.denseBytes(added);
    if (quantizationDeferred
        && requantizer.mustRequantizeFor(
            window.quantizedBlocks(), blocks.denseBytes() + addedBytes)) {
      window.quantize(length);
    }
    requantizer.fit(window.quantizedBlocks(), blocks.denseBytes() + addedBytes);
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
    int quantizable = quantizationDeferred ? window.quantizableBlocks(length) : 0;
    return requantizer.stepCapacity(length, tokens, window.quantizedBlocks(), quantizable);
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
    blocks.dense(layer, block).store(layer, token, position, keys, keysAt, values, valuesAt);
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
      draft.replayBefore(length);
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
      window.quantize(length);
      blocks.evict(length);
    } finally {
      unpin();
    }
  }

  @Override
  public boolean mustQuantize() {
    return !quantizationDeferred && window.quantizableBlocks(length) > 0;
  }

  @Override
  public int nextQuantization() {
    return window.nextQuantization();
  }

  /** {@inheritDoc} A draft stays in the block of its first token, so it allocates nothing more. */
  @Override
  public int draftCapacity() {
    return quantizationDeferred ? 0 : firstPosition(blockOf(length) + 1) - length - 1;
  }

  @Override
  public void beginDraft(int tokens, int queryChannels) {
    draft.begin(length, tokens, queryChannels);
  }

  @Override
  public void endDraft() {
    draft.end();
  }

  @Override
  public void deferQuantization(boolean deferred) {
    checkOpen();
    quantizationDeferred = deferred;
    quantizeWindow();
  }

  @Override
  public boolean prefillsOnStoredPages() {
    return prefill.onStoredPages();
  }

  @Override
  public int maxQueryRows() {
    return prefill.maxQueryRows();
  }

  @Override
  public int headsPerPass() {
    return headsPerPass;
  }

  @Override
  public boolean prefillsLike(KvCache other) {
    return other instanceof PagedCache paged && prefill.equals(paged.prefill);
  }

  @Override
  public SequenceObserver observer() {
    checkOpen();
    return codec == null ? SequenceObserver.NONE : draft.orTarget();
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
    return blocks.holdsWindows(wanted) ? wanted : 0;
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
    int retained = boundaries.blocks(wanted);
    length = wanted;
    window.moveBack(retained);
    blocks.truncate(retained, window.begin());
    boolean dequantizes =
        retained > 0 && wanted < firstPosition(retained) && blocks.isQuantized(retained - 1);
    if (requantizer != null) {
      int quantized = window.quantizedBlocks() - (dequantizes ? 1 : 0);
      long added = dequantizes ? requantizer.budget().denseBytes(TOKENS_PER_PAGE) : 0;
      requantizer.restart(quantized, blocks.denseBytes() + added);
    }
    if (dequantizes) {
      dequantize(retained - 1);
    } else if (wanted > 0 && wanted < firstPosition(retained)) {
      // If no layer is quantized, a block behind the window is still in full precision.
      window.moveBack(retained - 1);
    }
    if (!blocks.holdsWindows(length)) {
      truncateTo(0);
    } else if (codec != null) {
      codec.truncate(length);
    }
  }

  /** Dequantizes a page that was cut, since it must take tokens again. */
  private void dequantize(int block) {
    window.setBegin(block);
    if (!blocks.dequantize(block, length - firstPosition(block))) {
      length = firstPosition(block);
      blocks.truncate(block, block);
    }
  }

  @Override
  public PagedCache fork() {
    checkOpen();
    // Memory that was reserved and never filled is not worth sharing.
    BlockTable shared = shared(boundaries.blocks(length));
    PagedCache fork =
        new PagedCache(
            config,
            codec == null ? null : codec.fork(),
            requantizer == null ? null : requantizer.budget(),
            shared);
    fork.length = length;
    fork.window.setBegin(window.begin());
    fork.quantizationDeferred = quantizationDeferred;
    fork.unchecked = unchecked == null ? null : unchecked.share();
    return fork;
  }

  private BlockTable shared(int blockCount) {
    try {
      return blocks.share(blockCount, window.begin());
    } catch (MemoryFullException e) {
      throw new CacheFullException(
          "a sequence of %d tokens cannot be forked: %s".formatted(length, e.getMessage()));
    }
  }

  @Override
  public CacheSnapshot snapshot() {
    checkOpen();
    checkBlocks();
    int whole =
        codec == null
            ? Math.max(0, length - config.sinks()) / TOKENS_PER_PAGE
            : window.quantizedBlocks();
    byte[] state = codec == null ? new byte[0] : codec.serializeState();
    return new LiveSnapshot(config, blocks, length, whole, state);
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
    BlockPool blockPool = new BlockPool(shape, config, pool);
    CacheRestorer restorer = new CacheRestorer(blockPool, config, snapshot);
    PageBudget budget = budget(shape, config);
    try {
      return new PagedCache(config, restorer.codec(), budget, new BlockTable(blockPool))
          .restoreFrom(restorer);
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
      if (codec != null) {
        window.setBegin(restorer.wholeEnd());
      }
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
    return firstPosition(blocks.evicted(blocks.groups().of(layer)));
  }

  @Override
  public boolean defersPrompts() {
    return config.defersPrompts();
  }

  @Override
  public boolean isStateful() {
    return codec != null && !(codec instanceof StatelessCodec);
  }

  @Override
  public boolean evicts(int layer) {
    return blocks.groups().isBounded(layer);
  }

  @Override
  public void evict(int layer, int position) {
    checkOpen();
    if (position < 0 || position > length || position > 0 && !evicts(layer)) {
      throw new IllegalArgumentException(
          "layer %d cannot evict %d of %d tokens".formatted(layer, position, length));
    }
    if (position > 0) {
      blocks.evict(blocks.groups().of(layer), blockOf(position - 1) + 1);
    }
  }

  @Override
  public QuantizationTime quantizationTime() {
    return window.time();
  }

  @Override
  public CacheBytes bytes() {
    return new BlockStatistics(blocks).bytes(codec == null ? 0 : codec.tableBytes());
  }

  @Override
  public List<CacheRun> runs() {
    return new BlockStatistics(blocks).runs(length, window.begin());
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
      blocks.pool().memory().unregister(requantizable);
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
