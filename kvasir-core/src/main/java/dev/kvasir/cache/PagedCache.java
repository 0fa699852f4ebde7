package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.SealingRun;
import dev.kvasir.codec.SequenceCodec;
import dev.kvasir.codec.ShrinkingCodec;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.codec.StatelessCodec;
import dev.kvasir.kernel.DenseMatrix.Precision;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.MemoryFullException;
import dev.kvasir.memory.MemoryPool;
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
 *
 * <p>Layers that look back no further than a window of their own hold that, and let go of the
 * blocks before it ({@link LayerGroup}).
 */
public final class PagedCache implements KvCache {
  private final CacheShape shape;
  private final CacheSettings settings;
  private final BlockPlaces places;
  private final int sinkBlocks;
  private final SequenceCodec codec; // null where nothing is packed
  private final HostBlocks blocks;
  private final PageShrinker shrinker; // null without a budget
  private final YieldingPages yielding; // null where pages do not shrink for others
  private final MemoryPool pool;
  private final int blocksTogether;
  private final boolean readsPromptsAsStored;
  private final int rowsTogether;
  private UncheckedBlocks unchecked; // null where all that is held was checked
  private int length;
  private int sealedEnd; // blocks before this one are sinks or sealed
  private boolean sealingHeld;
  private long learnNanos;
  private long sealNanos;
  private boolean closed;

  /** With as much memory as there is. */
  public PagedCache(CacheShape shape, CacheSettings settings) {
    this(shape, settings, MemoryPool.unlimited());
  }

  /**
   * @param pool that all of its memory is taken from
   */
  public PagedCache(CacheShape shape, CacheSettings settings, MemoryPool pool) {
    this(
        shape,
        settings,
        pool,
        settings.codec().map(made -> made.begin(pool)).orElse(null),
        budget(shape, settings),
        newBlocks(shape, settings, pool));
  }

  private static PageBudget budget(CacheShape shape, CacheSettings settings) {
    return settings.budget().map(any -> new PageBudget(shape, settings).requireRoom()).orElse(null);
  }

  private static HostBlocks newBlocks(CacheShape shape, CacheSettings settings, MemoryPool pool) {
    LayerGroups groups = LayerGroups.of(shape, settings);
    return new HostBlocks(groups, settings.precision(), pool, settings.codec().orElse(null));
  }

  private PagedCache(
      CacheShape shape,
      CacheSettings settings,
      MemoryPool pool,
      SequenceCodec codec,
      PageBudget budget,
      HostBlocks blocks) {
    this.shape = shape;
    this.settings = settings;
    this.pool = pool;
    this.codec = codec;
    this.blocks = blocks;
    this.places = new BlockPlaces(settings.sinks());
    this.sinkBlocks = places.sinkBlocks();
    this.blocksTogether = settings.codec().map(PageCodec::blocksTogether).orElse(1);
    this.readsPromptsAsStored =
        settings
            .codec()
            .map(PageCodec::readsPromptsPacked)
            .orElse(settings.precision() != Precision.F32);
    this.rowsTogether =
        settings.codec().map(PageCodec::rowsTogether).orElse(PageReader.PROMPT_ROWS);
    this.sealedEnd = sinkBlocks;
    this.shrinker =
        budget == null ? null : new PageShrinker(budget, (ShrinkingSequence) codec, blocks);
    this.yielding =
        budget == null && settings.codec().orElse(null) instanceof ShrinkingCodec shrinking
            ? new YieldingPages(shrinking, (ShrinkingSequence) codec, blocks)
            : null;
    if (yielding != null) {
      pool.join(yielding);
    }
  }

  @Override
  public void enter() {
    if (yielding != null) {
      yielding.enter();
    }
  }

  @Override
  public void leave() {
    if (yielding != null) {
      yielding.leave();
    }
  }

  @Override
  public int length() {
    return length;
  }

  @Override
  public int firstPosition(int block) {
    return places.firstPosition(block);
  }

  @Override
  public int blockOf(int position) {
    return places.blockOf(position);
  }

  @Override
  public void reserve(int wanted) {
    checkOpen();
    checkBlocks();
    enter();
    try {
      if (shrinker != null && wanted > firstPosition(blocks.count())) {
        makeRoom(wanted);
      }
      take(wanted);
    } catch (MemoryFullException e) {
      throw new CacheFullException(
          "the cache cannot take %d tokens after %d: %s"
              .formatted(wanted - length, length, e.getMessage()));
    } finally {
      leave();
    }
  }

  /** A step begins here, so what is damaged ends one sequence and no batch. */
  private void checkBlocks() {
    if (unchecked != null) {
      unchecked.check();
    }
  }

  /**
   * Takes the blocks that are missing. The one that the next token goes to may be a fork's too:
   * then this sequence needs its own, unless the fork has left to make room for the copy.
   */
  private void take(int wanted) {
    int next = blockOf(length);
    boolean copies = next < blocks.count() && blocks.isShared(next);
    try {
      take(wanted, copies ? next : -1);
    } catch (MemoryFullException e) {
      if (!copies || blocks.isShared(next)) {
        throw e;
      }
      take(wanted, -1);
    }
  }

  /**
   * @param copied a block of which this sequence needs its own; -1 for none
   */
  private void take(int wanted, int copied) {
    int missing = 0;
    while (firstPosition(blocks.count() + missing) < wanted) {
      missing++;
    }
    if (copied < 0 && missing == 0) {
      return;
    }
    int held = blocks.count();
    int[] tokens = new int[missing];
    for (int i = 0; i < missing; i++) {
      tokens[i] = places.capacity(held + i);
    }
    blocks.take(copied, tokens, packable(held + missing) - packable(held));
  }

  /** Dense blocks of the first so many that will be packed. */
  private int packable(int count) {
    return codec == null ? 0 : Math.max(0, count - sealedEnd);
  }

  /** Shrinks pages until the dense blocks that are to come fit beside them. */
  private void makeRoom(int wanted) {
    PageBudget budget = shrinker.budget();
    if (stepOf(wanted - length) < wanted - length) {
      throw budget.full(length, wanted);
    }
    int added = firstPosition(blockOf(wanted - 1) + 1) - firstPosition(blocks.count());
    long room = budget.denseBytes(added);
    if (sealingHeld && shrinker.mustShrinkFor(sealedBlocks(), blocks.denseBytes() + room)) {
      sealBehindWindow();
    }
    shrinker.fit(sealedBlocks(), blocks.denseBytes() + room);
  }

  private int sealedBlocks() {
    return sealedEnd - sinkBlocks;
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
    int reserved = firstPosition(blocks.count());
    long dense = blocks.denseBytes() - budget.denseBytes((long) sealable * TOKENS_PER_PAGE);
    int end = blocks.count();
    while (firstPosition(end) < length + (long) tokens
        && budget.holds(
            sealedBlocks() + sealable,
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
  public void count(int positions) {
    checkOpen();
    if (positions < 0 || length + positions > firstPosition(blocks.count())) {
      throw new IllegalArgumentException(
          "length would be %d; reserved are %d"
              .formatted(length + positions, firstPosition(blocks.count())));
    }
    length += positions;
    if (codec != null) {
      codec.count(length);
    }
  }

  @Override
  public void settle() {
    checkOpen();
    if (sealingHeld) {
      return;
    }
    enter();
    try {
      if (codec != null) {
        sealBehindWindow();
      }
      blocks.letGo(places, length);
    } finally {
      leave();
    }
  }

  @Override
  public boolean mustSettle() {
    return codec != null && !sealingHeld && endBehindWindow() > sealedEnd;
  }

  /** The first block that may not be packed yet. */
  private int endBehindWindow() {
    int end = sealedEnd;
    while (firstPosition(end + blocksTogether) + (long) settings.window() <= length) {
      end += blocksTogether;
    }
    return end;
  }

  private void sealBehindWindow() {
    int end = endBehindWindow();
    if (end == sealedEnd) {
      return;
    }
    long begin = System.nanoTime();
    if (blocks.groups().anyPacks()) {
      codec.learn(new Run(sealedEnd, end - sealedEnd));
    }
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
      blocks.seal(sealedEnd, firstPosition(sealedEnd), codec);
      sealedEnd++;
      if (shrinker != null) {
        shrinker.fit(sealedBlocks(), blocks.denseBytes());
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
    public boolean packs(int layer) {
      return blocks.groups().packs(layer);
    }

    @Override
    public void expand(int layer, int block, float[] keys, float[] values) {
      blocks.expandLayer(first + block, layer, keys, values);
    }
  }

  @Override
  public void holdSealing(boolean held) {
    checkOpen();
    sealingHeld = held;
    settle();
  }

  @Override
  public boolean readsPromptsAsStored() {
    return readsPromptsAsStored;
  }

  @Override
  public int rowsTogether() {
    return rowsTogether;
  }

  @Override
  public boolean seesTokens() {
    return codec != null && codec.seesTokens();
  }

  @Override
  public void see(int position, int token) {
    checkOpen();
    if (codec != null) {
      codec.see(position, token);
    }
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
  public int receivingQueries() {
    return codec == null ? 0 : codec.receivingQueries();
  }

  @Override
  public void receive(int layer, int kvHead, int from, int[] weights, int count) {
    checkOpen();
    if (codec != null) {
      codec.receive(layer, kvHead, from, weights, count);
    }
  }

  /** What a local layer has let go cannot be had back from what other layers hold. */
  @Override
  public int keepable(int wanted) {
    checkOpen();
    if (wanted < 0 || wanted > length) {
      throw new IllegalArgumentException(
          "length is %d; expected 0 to %d".formatted(wanted, length));
    }
    return blocks.holdsWindows(places, wanted) ? wanted : 0;
  }

  @Override
  public void truncate(int wanted) {
    int kept = keepable(wanted);
    if (kept > 0) {
      checkBlocks();
    }
    enter();
    try {
      cutTo(kept);
    } finally {
      leave();
    }
    if (length == 0) {
      forgetUnchecked();
    }
  }

  private void cutTo(int wanted) {
    int kept = wanted == 0 ? 0 : blockOf(wanted - 1) + 1;
    length = wanted;
    sealedEnd = Math.min(sealedEnd, Math.max(kept, sinkBlocks));
    blocks.keep(kept, packable(kept));
    boolean unseals = kept > 0 && wanted < firstPosition(kept) && blocks.isSealed(kept - 1);
    if (shrinker != null) {
      int sealed = unseals ? sealedBlocks() - 1 : sealedBlocks();
      long added = unseals ? shrinker.budget().denseBytes(TOKENS_PER_PAGE) : 0;
      shrinker.begin(sealed, blocks.denseBytes() + added);
    }
    if (unseals) {
      unseal(kept - 1);
    } else if (wanted > 0 && wanted < firstPosition(kept)) {
      // Where no layer packs, a block that is past the window is in full precision all the same.
      sealedEnd = Math.min(sealedEnd, Math.max(kept - 1, sinkBlocks));
    }
    if (!blocks.holdsWindows(places, length)) {
      cutTo(0);
    } else if (codec != null) {
      codec.truncate(length);
    }
  }

  /** A page that is cut must take tokens again, so it goes back to what attention saw of it. */
  private void unseal(int block) {
    sealedEnd = block;
    if (!blocks.unseal(block, length - firstPosition(block))) {
      length = firstPosition(block);
      blocks.keep(block, packable(block));
    }
  }

  @Override
  public KvCache fork() {
    checkOpen();
    // Memory that was reserved and never filled is not worth sharing.
    int held = length == 0 ? 0 : blockOf(length - 1) + 1;
    HostBlocks shared = shared(held);
    PagedCache fork =
        new PagedCache(
            shape,
            settings,
            pool,
            codec == null ? null : codec.fork(),
            shrinker == null ? null : shrinker.budget(),
            shared);
    fork.length = length;
    fork.sealedEnd = sealedEnd;
    fork.sealingHeld = sealingHeld;
    fork.unchecked = unchecked == null ? null : unchecked.share();
    return fork;
  }

  private HostBlocks shared(int held) {
    try {
      return blocks.share(held, packable(held));
    } catch (MemoryFullException e) {
      throw new CacheFullException(
          "a sequence of %d tokens cannot be forked: %s".formatted(length, e.getMessage()));
    }
  }

  @Override
  public CacheForm form() {
    checkOpen();
    checkBlocks();
    int whole = codec == null ? wholeDenseBlocks() : sealedBlocks();
    byte[] state = codec == null ? new byte[0] : codec.state();
    return new HeldForm(settings, blocks, length, whole, state);
  }

  private int wholeDenseBlocks() {
    return Math.max(0, length - settings.sinks()) / TOKENS_PER_PAGE;
  }

  /**
   * A sequence that was stored, which goes on with the bits that it would have had.
   *
   * @param pool that all of its memory is taken from
   * @throws dev.kvasir.error.InvalidInputException in one sentence, where a bit has changed or a
   *     cache with other settings was stored
   * @throws CacheFullException where the pool has not as much
   */
  public static PagedCache restored(
      CacheShape shape, CacheSettings settings, MemoryPool pool, CacheForm form) {
    Restoring restoring = new Restoring(LayerGroups.of(shape, settings), settings, pool, form);
    PageBudget budget = budget(shape, settings);
    try {
      PagedCache cache =
          new PagedCache(
              shape, settings, pool, restoring.codec(), budget, newBlocks(shape, settings, pool));
      return cache.filled(restoring);
    } catch (MemoryFullException e) {
      throw new CacheFullException(
          "a stored sequence of %d tokens cannot be held: %s"
              .formatted(restoring.length(), e.getMessage()));
    }
  }

  private PagedCache filled(Restoring restoring) {
    enter();
    try {
      restoring.fill(blocks, codec);
      length = restoring.length();
      sealedEnd = codec == null ? sealedEnd : restoring.wholeEnd();
      unchecked = restoring.unchecked();
      return this;
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    } finally {
      leave();
    }
  }

  @Override
  public Page page(int layer, int block) {
    checkOpen();
    checkBlocks();
    return blocks.get(layer, block) instanceof SealedBlock sealed ? sealed.page(layer) : null;
  }

  @Override
  public DenseRows denseRows(int layer, int block) {
    checkOpen();
    return held(layer, block) instanceof DenseBlock dense ? dense.rows(layer) : null;
  }

  @Override
  public void expandKeys(
      Kernels kernels, int layer, int kvHead, int block, int tokens, float[] out) {
    checkOpen();
    held(layer, block).expandKeys(kernels, layer, kvHead, tokens, out);
  }

  @Override
  public void expandValues(
      Kernels kernels, int layer, int kvHead, int block, int tokens, float[] out) {
    checkOpen();
    held(layer, block).expandValues(kernels, layer, kvHead, tokens, out);
  }

  private Block held(int layer, int block) {
    checkBlocks();
    Block found = blocks.get(layer, block);
    if (found == null) {
      throw new IllegalStateException(
          "layer %d is read at position %d; it holds what follows %d"
              .formatted(layer, firstPosition(block), heldFrom(layer)));
    }
    return found;
  }

  @Override
  public int heldFrom(int layer) {
    return firstPosition(blocks.ofLayer(layer).gone());
  }

  @Override
  public boolean learns() {
    return codec != null && !(codec instanceof StatelessCodec);
  }

  @Override
  public boolean letsGo(int layer) {
    return blocks.ofLayer(layer).group().isBounded();
  }

  @Override
  public void letGo(int layer, int position) {
    checkOpen();
    if (position < 0 || position > length || position > 0 && !letsGo(layer)) {
      throw new IllegalArgumentException(
          "layer %d was to let go of %d tokens of %d".formatted(layer, position, length));
    }
    if (position > 0) {
      blocks.ofLayer(layer).letGo(blockOf(position - 1) + 1);
    }
  }

  @Override
  public PackingTime packingTime() {
    return new PackingTime(learnNanos, sealNanos, shrinkNanos());
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
    int tokens = places.tokens(block, length);
    double values = (double) places.capacity(block) * shape.valuesPerToken();
    CacheBytes bytes = blocks.bytesOf(block);
    if (block >= sinkBlocks && block < sealedEnd && blocks.groups().anyPacks()) {
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
    if (codec != null) {
      codec.close();
    }
    if (yielding != null) {
      pool.leave(yielding);
    }
    blocks.keep(0, 0);
    forgetUnchecked();
  }

  private void forgetUnchecked() {
    UncheckedBlocks forgotten = unchecked;
    unchecked = null;
    if (forgotten != null) {
      forgotten.release();
    }
  }
}
