package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.SealingRun;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.ScalarKernels;
import java.util.ArrayList;
import java.util.List;

/**
 * A sequence's tokens in blocks: sinks, then packed pages, then the recent tokens in full
 * precision.
 *
 * <pre>
 * position 0        sinks            sinks + 128 * sealed                length
 *          | sinks  | sealed ... sealed | dense ... dense, the last filling |
 * </pre>
 *
 * A dense block is packed, in all layers at once, when at least {@code window} tokens follow it, or
 * several of them where a codec wants them together. So while a step runs, its own tokens are
 * always seen in full precision.
 */
public final class PagedCache implements KvCache {
  private static final Kernels KERNELS = new ScalarKernels();

  // A thread's room for the vectors of a block and layer while they are packed.
  private static final ThreadLocal<float[]> LAYER_KEYS =
      ThreadLocal.withInitial(() -> new float[0]);
  private static final ThreadLocal<float[]> LAYER_VALUES =
      ThreadLocal.withInitial(() -> new float[0]);

  private final CacheShape shape;
  private final CacheSettings settings;
  private final int sinkBlocks;
  private final SequenceCodec codec; // null where nothing is packed
  private final List<Block> blocks = new ArrayList<>();
  private final PageShrinker shrinker; // null without a budget
  private int length;
  private int sealedEnd; // blocks before this one are sinks or sealed
  private boolean sealingHeld;
  private long learnNanos;
  private long sealNanos;
  private boolean closed;

  public PagedCache(CacheShape shape, CacheSettings settings) {
    this(
        shape,
        settings,
        settings.codec().map(PageCodec::begin).orElse(null),
        settings.budget().map(any -> new PageBudget(shape, settings).requireRoom()).orElse(null));
  }

  private PagedCache(
      CacheShape shape, CacheSettings settings, SequenceCodec codec, PageBudget budget) {
    this.shape = shape;
    this.settings = settings;
    this.codec = codec;
    this.sinkBlocks = Math.ceilDiv(settings.sinks(), TOKENS_PER_PAGE);
    this.sealedEnd = sinkBlocks;
    this.shrinker =
        budget == null ? null : new PageShrinker(budget, (ShrinkingSequence) codec, blocks);
  }

  /** What {@code tokens} positions will take once they are all held. */
  public static CacheBytes bytesFor(CacheShape shape, CacheSettings settings, int tokens) {
    if (settings.budget().isPresent()) {
      return new PageBudget(shape, settings).requireRoom().bytesFor(tokens);
    }
    int sinks = Math.min(settings.sinks(), Math.ceilDiv(tokens, TOKENS_PER_PAGE) * TOKENS_PER_PAGE);
    int rest = Math.max(0, tokens - settings.sinks());
    int together = blocksTogether(settings);
    int passed = Math.max(0, rest - settings.window()) / TOKENS_PER_PAGE;
    int sealed = settings.codec().isEmpty() ? 0 : passed / together * together;
    long dense = Math.ceilDiv(rest - sealed * TOKENS_PER_PAGE, TOKENS_PER_PAGE);
    int layers = shape.layers();
    long blockBytes = settings.codec().map(codec -> codec.blockBytes(layers)).orElse(0L);
    long codeBytes = settings.codec().map(codec -> codec.blockCodeBytes(layers)).orElse(0L);
    return new CacheBytes(
        sealed * codeBytes,
        sealed * (blockBytes - codeBytes),
        DenseBlock.bytesFor(shape, dense * TOKENS_PER_PAGE, settings.precision()),
        DenseBlock.bytesFor(shape, sinks, settings.precision()),
        settings.codec().map(codec -> codec.tableBytes(sealed)).orElse(0L));
  }

  private static int blocksTogether(CacheSettings settings) {
    return settings.codec().map(PageCodec::blocksTogether).orElse(1);
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public int firstPosition(int block) {
    return block < sinkBlocks
        ? block * TOKENS_PER_PAGE
        : settings.sinks() + (block - sinkBlocks) * TOKENS_PER_PAGE;
  }

  @Override
  public int blockOf(int position) {
    return position < settings.sinks()
        ? position / TOKENS_PER_PAGE
        : sinkBlocks + (position - settings.sinks()) / TOKENS_PER_PAGE;
  }

  @Override
  public void reserve(int wanted) {
    checkOpen();
    if (shrinker != null && wanted > firstPosition(blocks.size())) {
      makeRoom(wanted);
    }
    makeWritable();
    while (firstPosition(blocks.size()) < wanted) {
      int capacity = firstPosition(blocks.size() + 1) - firstPosition(blocks.size());
      blocks.add(new DenseBlock(shape, capacity, settings.precision()));
    }
  }

  /** Shrinks pages until the dense blocks that are to come fit beside them. */
  private void makeRoom(int wanted) {
    PageBudget budget = shrinker.budget();
    if (stepOf(wanted - length) < wanted - length) {
      throw budget.full(length, wanted);
    }
    int added = firstPosition(blockOf(wanted - 1) + 1) - firstPosition(blocks.size());
    long room = budget.denseBytes(added);
    if (sealingHeld && shrinker.mustShrinkFor(sealedBlocks(), denseBytes() + room)) {
      sealBehindWindow();
    }
    shrinker.fit(sealedBlocks(), denseBytes() + room);
  }

  private int sealedBlocks() {
    return sealedEnd - sinkBlocks;
  }

  private long denseBytes() {
    long bytes = 0;
    for (Block block : blocks) {
      bytes += block instanceof DenseBlock dense ? dense.bytes() : 0;
    }
    return bytes;
  }

  @Override
  public int capacity() {
    return shrinker == null ? Integer.MAX_VALUE : shrinker.budget().capacity();
  }

  @Override
  public int stepOf(int tokens) {
    checkOpen();
    if (shrinker == null) {
      return tokens;
    }
    PageBudget budget = shrinker.budget();
    int sealable = sealingHeld ? endBehindWindow() - sealedEnd : 0;
    int reserved = firstPosition(blocks.size());
    long dense = denseBytes() - budget.denseBytes((long) sealable * TOKENS_PER_PAGE);
    int end = blocks.size();
    while (firstPosition(end) < length + (long) tokens
        && budget.holds(
            sealedBlocks() + sealable,
            dense + budget.denseBytes(firstPosition(end + 1) - reserved))) {
      end++;
    }
    return Math.min(tokens, firstPosition(end) - length);
  }

  /**
   * The block that the next token goes to may be a fork's too: then this sequence needs its own.
   */
  private void makeWritable() {
    int next = blockOf(length);
    if (next < blocks.size() && blocks.get(next) instanceof DenseBlock dense && dense.isShared()) {
      blocks.set(next, dense.copy());
      dense.release();
    }
  }

  @Override
  public void append(
      int layer, int position, float[] keys, int keysAt, float[] values, int valuesAt) {
    checkOpen();
    if (position < length || position >= firstPosition(blocks.size())) {
      throw new IllegalArgumentException(
          "position is %d; reserved are %d to %d"
              .formatted(position, length, firstPosition(blocks.size()) - 1));
    }
    int block = blockOf(position);
    DenseBlock dense = (DenseBlock) blocks.get(block);
    int token = position - firstPosition(block);
    dense.store(layer, token, position, keys, keysAt, values, valuesAt);
  }

  @Override
  public void count(int positions) {
    checkOpen();
    if (positions < 0 || length + positions > firstPosition(blocks.size())) {
      throw new IllegalArgumentException(
          "length would be %d; reserved are %d"
              .formatted(length + positions, firstPosition(blocks.size())));
    }
    length += positions;
  }

  @Override
  public void settle() {
    checkOpen();
    if (codec != null && !sealingHeld) {
      sealBehindWindow();
    }
  }

  /** The first block that may not be packed yet. */
  private int endBehindWindow() {
    int together = blocksTogether(settings);
    int end = sealedEnd;
    while (firstPosition(end + together) + (long) settings.window() <= length) {
      end += together;
    }
    return end;
  }

  private void sealBehindWindow() {
    int end = endBehindWindow();
    if (end == sealedEnd) {
      return;
    }
    long begin = System.nanoTime();
    codec.learn(new Run(sealedEnd, end - sealedEnd));
    long learned = System.nanoTime();
    long shrunk = shrinkNanos();
    sealUpTo(end);
    learnNanos += learned - begin;
    sealNanos += System.nanoTime() - learned - (shrinkNanos() - shrunk);
  }

  private long shrinkNanos() {
    return shrinker == null ? 0 : shrinker.nanos();
  }

  private void sealUpTo(int end) {
    while (sealedEnd < end) {
      DenseBlock dense = (DenseBlock) blocks.get(sealedEnd);
      blocks.set(sealedEnd, seal(dense, firstPosition(sealedEnd)));
      dense.release();
      sealedEnd++;
      if (shrinker != null) {
        shrinker.fit(sealedBlocks(), denseBytes());
      }
    }
  }

  /** Dense blocks from {@code first} on, before they are packed. */
  private final class Run implements SealingRun {
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
    public void expand(int layer, int block, float[] keys, float[] values) {
      ((DenseBlock) blocks.get(first + block)).expandLayer(KERNELS, layer, keys, values);
    }
  }

  private SealedBlock seal(DenseBlock dense, int position) {
    int count = shape.kvHeads() * TOKENS_PER_PAGE * shape.headDim();
    float[] keys = scratch(LAYER_KEYS, count);
    float[] values = scratch(LAYER_VALUES, count);
    List<Page> pages = new ArrayList<>();
    try {
      for (int layer = 0; layer < shape.layers(); layer++) {
        dense.expandLayer(KERNELS, layer, keys, values);
        pages.add(codec.seal(layer, position, keys, values));
      }
      return new SealedBlock(List.copyOf(pages));
    } catch (RuntimeException | Error e) {
      pages.forEach(Page::close);
      throw e;
    }
  }

  private static float[] scratch(ThreadLocal<float[]> room, int count) {
    float[] scratch = room.get();
    if (scratch.length < count) {
      scratch = new float[count];
      room.set(scratch);
    }
    return scratch;
  }

  @Override
  public void holdSealing(boolean held) {
    checkOpen();
    sealingHeld = held;
    settle();
  }

  @Override
  public boolean seesQueries() {
    return codec != null && codec.seesQueries();
  }

  @Override
  public void see(int layer, int position, float[] queries, int at) {
    checkOpen();
    if (codec != null) {
      codec.see(layer, position, queries, at);
    }
  }

  @Override
  public void truncate(int wanted) {
    checkOpen();
    if (wanted < 0 || wanted > length) {
      throw new IllegalArgumentException(
          "length is %d; expected 0 to %d".formatted(wanted, length));
    }
    int kept = wanted == 0 ? 0 : blockOf(wanted - 1) + 1;
    while (blocks.size() > kept) {
      blocks.removeLast().release();
    }
    length = wanted;
    sealedEnd = Math.min(sealedEnd, Math.max(kept, sinkBlocks));
    boolean cut = kept > 0 && wanted < firstPosition(kept);
    if (shrinker != null) {
      boolean unseals = cut && blocks.getLast() instanceof SealedBlock;
      int sealed = unseals ? sealedBlocks() - 1 : sealedBlocks();
      long added = unseals ? shrinker.budget().denseBytes(TOKENS_PER_PAGE) : 0;
      shrinker.begin(sealed, denseBytes() + added);
    }
    if (cut && blocks.getLast() instanceof SealedBlock block) {
      // A page that is cut must take tokens again, so it goes back to what attention saw of it.
      int tokens = wanted - firstPosition(kept - 1);
      blocks.set(
          kept - 1, DenseBlock.expanded(KERNELS, block, tokens, shape, settings.precision()));
      block.release();
      sealedEnd = kept - 1;
    }
    if (codec != null) {
      codec.truncate(wanted);
    }
  }

  @Override
  public KvCache fork() {
    checkOpen();
    PagedCache fork =
        new PagedCache(
            shape,
            settings,
            codec == null ? null : codec.fork(),
            shrinker == null ? null : shrinker.budget());
    // Memory that was reserved and never filled is not worth sharing.
    int held = length == 0 ? 0 : blockOf(length - 1) + 1;
    for (Block block : blocks.subList(0, held)) {
      fork.blocks.add(block.share());
    }
    fork.length = length;
    fork.sealedEnd = sealedEnd;
    fork.sealingHeld = sealingHeld;
    return fork;
  }

  @Override
  public Page page(int layer, int block) {
    checkOpen();
    return blocks.get(block) instanceof SealedBlock sealed ? sealed.page(layer) : null;
  }

  @Override
  public DenseRows denseRows(int layer, int block) {
    checkOpen();
    return blocks.get(block) instanceof DenseBlock dense ? dense.rows(layer) : null;
  }

  @Override
  public void expandKeys(
      Kernels kernels, int layer, int kvHead, int block, int tokens, float[] out) {
    checkOpen();
    blocks.get(block).expandKeys(kernels, layer, kvHead, tokens, out);
  }

  @Override
  public void expandValues(
      Kernels kernels, int layer, int kvHead, int block, int tokens, float[] out) {
    checkOpen();
    blocks.get(block).expandValues(kernels, layer, kvHead, tokens, out);
  }

  @Override
  public PackingTime packingTime() {
    return new PackingTime(learnNanos, sealNanos, shrinkNanos());
  }

  @Override
  public CacheBytes bytes() {
    long codes = 0;
    long scales = 0;
    long window = 0;
    long sinks = 0;
    for (int i = 0; i < blocks.size(); i++) {
      switch (blocks.get(i)) {
        case SealedBlock sealed -> {
          codes += sealed.codeBytes();
          scales += sealed.scaleBytes();
        }
        case DenseBlock dense -> {
          if (i < sinkBlocks) {
            sinks += dense.bytes();
          } else {
            window += dense.bytes();
          }
        }
      }
    }
    long tables = codec == null ? 0 : codec.tableBytes();
    return new CacheBytes(codes, scales, window, sinks, tables);
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
    if (codec != null) {
      codec.close();
    }
    blocks.forEach(Block::release);
    blocks.clear();
  }
}
