package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.kernel.WorkerPool;
import java.util.Arrays;

/**
 * Causal attention of a step's queries over the caches of their sequences. A query tile, which is
 * all query heads of a KV head for some consecutive tokens, reads a page while it is in the
 * processor's cache. A long past is cut into KV splits of several pages, which different threads
 * compute and then merge.
 *
 * <p>Split boundaries do not depend on the number of threads. Otherwise the order of sums, and with
 * it the text for a seed, would depend on the machine.
 *
 * <p>An instance owns its scratch memory, so it serves one caller at a time.
 */
public final class Attention {
  /** Query rows that share an expanded page: enough to amortize its expansion. */
  private static final int EXPANDED_ROWS = 128;

  /**
   * Pages of a KV split: at least a tenth of a millisecond of work, so that merging costs little.
   */
  private static final int SPLIT_PAGES = 16;

  /** Maximum query heads of a token in one pass; more heads are divided. */
  private static final int MAX_ROWS = PageReader.MAX_ROWS;

  /** Parts per thread in a prefill step, since the last tiles take longer than the first. */
  private static final int PARTS_PER_THREAD = 4;

  private static final float[] NO_SINKS = {};

  private final AttentionShape shape;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final int expandedTokens; // of a tile that shares expanded pages
  private final int storedTokens; // minimum for a tile on stored pages
  private final int maxHeadParts;
  private final KvPass[] passes;
  private final PartialOutputs partials;
  private final PartialOutputs[] workerPartials; // by worker
  private final AttentionObservers observers;
  private final WorkerPool.ParallelTask attendPart = this::attendPart;
  private final WorkerPool.ParallelTask merge = this::merge;

  // Query tiles of the current step, the same for all layers.
  private int tiles;
  private KvCache[] tileCache = new KvCache[16];
  private int[] tileRow = new int[16];
  private int[] tileTokenCount = new int[16];
  private int[] tilePosition = new int[16];
  private boolean[] tileIsStored = new boolean[16]; // computes on stored pages
  private boolean[] tileIsAlone = new boolean[16]; // the only tile of its step, with few rows
  private int[] headParts = new int[16];

  // KV splits of the tiles in the current layer.
  private int[] firstSplit = new int[16];
  private int[] splits = new int[16];
  private int[] firstPart = new int[17];
  private int[] firstSlot = new int[16];

  private int layer;
  private int window;
  private float[] sinks; // (queryHeads), or empty
  private float[] queries;
  private float[] out;

  public Attention(AttentionShape shape, Kernels kernels, WorkerPool workers) {
    this.shape = shape;
    this.kernels = kernels;
    this.workers = workers;
    this.expandedTokens = Math.max(1, EXPANDED_ROWS / shape.queriesPerKvHead());
    this.storedTokens = Math.max(1, MAX_ROWS / shape.queriesPerKvHead());
    this.maxHeadParts = Math.ceilDiv(shape.queriesPerKvHead(), MAX_ROWS);
    this.partials = new PartialOutputs(MAX_ROWS, shape.valueDim());
    this.observers = new AttentionObservers(shape, kernels, workers);
    this.passes = new KvPass[workers.size()];
    this.workerPartials = new PartialOutputs[workers.size()];
    int maxRows = Math.max(PageReader.PREFILL_ROWS, expandedTokens * shape.queriesPerKvHead());
    for (int i = 0; i < passes.length; i++) {
      passes[i] = new KvPass(shape, kernels, maxRows);
      workerPartials[i] = new PartialOutputs(PageReader.PREFILL_ROWS, shape.valueDim());
    }
  }

  /** Drops the tiles of the last step. */
  public void begin() {
    Arrays.fill(tileCache, 0, tiles, null);
    tiles = 0;
    observers.begin();
  }

  /** Adds the rows of a whole step of one sequence, from {@code position} on. */
  public void add(KvCache cache, int firstRow, int count, int position) {
    add(cache, firstRow, count, position, position, position + count);
  }

  /**
   * Adds {@code count} consecutive rows of one sequence from {@code position} on. They are part of
   * its step over the positions from {@code stepBegin} to {@code stepEnd}. If pages are expanded,
   * tiles are cut and read as for the whole step, so the result does not depend on how the step is
   * chunked. Rows on stored pages give the same result in any batch.
   */
  public void add(
      KvCache cache, int firstRow, int count, int position, int stepBegin, int stepEnd) {
    int tokensPerTile =
        cache.prefillsOnStoredPages() ? storedTokens(cache.maxQueryRows(), count) : expandedTokens;
    int end = position + count;
    int from = position;
    while (from < end) {
      int begin = from - (from - stepBegin) % tokensPerTile;
      int tileEnd = Math.min(begin + tokensPerTile, stepEnd);
      int to = Math.min(tileEnd, end);
      addTile(cache, firstRow + from - position, to - from, from, tileEnd - begin);
      boolean isFew = isFew(tileEnd - begin);
      tileIsAlone[tiles - 1] = isFew && begin == stepBegin && tileEnd == stepEnd;
      from = to;
    }
    observers.add(cache, firstRow, count, position);
  }

  /** Returns the tokens of a tile: as many as compute together, or fewer if threads would idle. */
  private int storedTokens(int rowsTogether, int count) {
    int maxTokens = Math.max(storedTokens, rowsTogether / shape.queriesPerKvHead());
    int parts = PARTS_PER_THREAD * workers.size();
    return Math.clamp((long) count * shape.kvHeads() / parts, storedTokens, maxTokens);
  }

  /** Returns whether a tile has as few rows as a single token. */
  private boolean isFew(int stepTokens) {
    return stepTokens == 1 || stepTokens * shape.queriesPerKvHead() <= MAX_ROWS;
  }

  /**
   * @param stepTokens tokens of the tile, including those outside this engine step
   */
  private void addTile(KvCache cache, int row, int count, int position, int stepTokens) {
    if (tiles == tileRow.length) {
      grow();
    }
    int group = shape.queriesPerKvHead();
    tileCache[tiles] = cache;
    tileRow[tiles] = row;
    tileTokenCount[tiles] = count;
    tilePosition[tiles] = position;
    tileIsStored[tiles] = cache.prefillsOnStoredPages() || isFew(stepTokens);
    headParts[tiles] = stepTokens == 1 ? Math.ceilDiv(group, MAX_ROWS) : 1;
    tiles++;
  }

  private void grow() {
    int size = 2 * tileRow.length;
    tileCache = Arrays.copyOf(tileCache, size);
    tileRow = Arrays.copyOf(tileRow, size);
    tileTokenCount = Arrays.copyOf(tileTokenCount, size);
    tilePosition = Arrays.copyOf(tilePosition, size);
    tileIsStored = Arrays.copyOf(tileIsStored, size);
    tileIsAlone = Arrays.copyOf(tileIsAlone, size);
    headParts = Arrays.copyOf(headParts, size);
    firstSplit = new int[size];
    splits = new int[size];
    firstPart = new int[size + 1];
    firstSlot = new int[size];
  }

  /** Attends in one layer without sinks. */
  public void attend(int atLayer, int attentionWindow, float[] rotatedQueries, float[] output) {
    attend(atLayer, attentionWindow, NO_SINKS, rotatedQueries, output);
  }

  /**
   * Attends in one layer, whose keys and values must have been appended. Reports attention mass to
   * the caches that observe it.
   *
   * @param attentionWindow positions that a query sees, itself included
   * @param scoresOfSinks per query head, a score that joins the softmax without a value; may be
   *     empty
   * @param rotatedQueries (rows, queryHeads, headDim)
   * @param output (rows, queryHeads, headDim)
   */
  public void attend(
      int atLayer,
      int attentionWindow,
      float[] scoresOfSinks,
      float[] rotatedQueries,
      float[] output) {
    layer = atLayer;
    window = attentionWindow;
    sinks = scoresOfSinks;
    queries = rotatedQueries;
    out = output;
    int slots = plan();
    workers.run(attendPart, firstPart[tiles]);
    if (slots > 0) {
      workers.run(merge, tiles * shape.kvHeads() * maxHeadParts);
    }
    observers.report(layer, window, queries);
  }

  /**
   * Cuts the past of every tile into KV splits; returns how many partial outputs must be merged.
   */
  private int plan() {
    int slots = 0;
    for (int tile = 0; tile < tiles; tile++) {
      boolean cut = tileIsStored[tile];
      firstSplit[tile] = cut ? firstPage(tile) / SPLIT_PAGES : 0;
      splits[tile] = cut ? lastPage(tile) / SPLIT_PAGES - firstSplit[tile] + 1 : 1;
      firstSlot[tile] = slots;
      int passesPerHead = isSplit(tile) ? splits[tile] : 1;
      int parts = passesPerHead * headParts[tile] * shape.kvHeads();
      firstPart[tile + 1] = firstPart[tile] + parts;
      slots += isSplit(tile) ? parts : 0;
    }
    partials.ensureCapacity(slots);
    return slots;
  }

  /**
   * Returns whether different threads compute a tile's splits. The tiles of a prompt keep all
   * threads busy, and their partial outputs would take much memory.
   */
  private boolean isSplit(int tile) {
    return splits[tile] > 1 && tileIsAlone[tile];
  }

  private int firstPage(int tile) {
    return tileCache[tile].blockOf(Math.max(0, tilePosition[tile] - window + 1));
  }

  private int lastPage(int tile) {
    return tileCache[tile].blockOf(tilePosition[tile] + tileTokenCount[tile] - 1);
  }

  private void attendPart(int part, int worker) {
    int found = Arrays.binarySearch(firstPart, 0, tiles, part);
    int tile = found >= 0 ? found : -found - 2;
    int inTile = part - firstPart[tile];
    int passesPerHead = isSplit(tile) ? splits[tile] : 1;
    int heads = inTile / passesPerHead;
    int kvHead = heads / headParts[tile];
    int queryHead = heads % headParts[tile] * MAX_ROWS;
    if (isSplit(tile)) {
      attendSplit(tile, kvHead, queryHead, inTile % passesPerHead, passes[worker]);
      passes[worker].store(partials, firstSlot[tile] + inTile);
    } else if (splits[tile] > 1) {
      attendSplits(tile, kvHead, queryHead, worker);
    } else {
      attendSplit(tile, kvHead, queryHead, 0, passes[worker]);
      for (int token = 0; token < tileTokenCount[tile]; token++) {
        int head = headAt(tile, token, kvHead, queryHead);
        passes[worker].sink(token, sinks, head % shape.queryHeads());
        passes[worker].finish(token, out, head * shape.valueDim());
        if (observesAttention(tile)) {
          passes[worker].writeLogSums(token, observers.logSums(), head);
        }
      }
    }
  }

  private void attendSplit(int tile, int kvHead, int queryHead, int split, KvPass pass) {
    pass.begin(tileTokenCount[tile], headCount(tile, queryHead), tileIsStored[tile]);
    for (int token = 0; token < tileTokenCount[tile]; token++) {
      pass.query(token, queries, headAt(tile, token, kvHead, queryHead) * shape.keyDim());
    }
    visitSplit(tile, kvHead, split, pass);
    pass.end();
  }

  /** Computes all splits on one worker, with the same passes and sums as several threads. */
  private void attendSplits(int tile, int kvHead, int queryHead, int worker) {
    PartialOutputs workerOutputs = workerPartials[worker];
    workerOutputs.ensureCapacity(splits[tile]);
    for (int split = 0; split < splits[tile]; split++) {
      attendSplit(tile, kvHead, queryHead, split, passes[worker]);
      passes[worker].store(workerOutputs, split);
    }
    merge(tile, kvHead, queryHead, workerOutputs, 0);
  }

  /** Returns the query heads of a KV head in one pass, from {@code queryHead} on. */
  private int headCount(int tile, int queryHead) {
    int group = shape.queriesPerKvHead();
    return headParts[tile] == 1 ? group : Math.min(MAX_ROWS, group - queryHead);
  }

  private void visitSplit(int tile, int kvHead, int split, KvPass pass) {
    KvCache cache = tileCache[tile];
    int position = tilePosition[tile];
    int end = position + tileTokenCount[tile];
    int first = firstPage(tile);
    int last = lastPage(tile);
    if (splits[tile] > 1) {
      int from = (firstSplit[tile] + split) * SPLIT_PAGES;
      first = Math.max(first, from);
      last = Math.min(last, from + SPLIT_PAGES - 1);
    }
    pass.prefetch(cache, layer, kvHead, first, last);
    for (int page = first; page <= last; page++) {
      int tokens = Math.min(cache.firstPosition(page + 1), end) - cache.firstPosition(page);
      pass.visit(cache, layer, kvHead, page, position, tokens, window);
    }
  }

  private void merge(int part, int worker) {
    int tile = part / (shape.kvHeads() * maxHeadParts);
    int heads = part % (shape.kvHeads() * maxHeadParts);
    if (!isSplit(tile) || heads >= shape.kvHeads() * headParts[tile]) {
      return;
    }
    int queryHead = heads % headParts[tile] * MAX_ROWS;
    int slot = firstSlot[tile] + heads * splits[tile];
    merge(tile, heads / headParts[tile], queryHead, partials, slot);
  }

  private void merge(int tile, int kvHead, int queryHead, PartialOutputs found, int slot) {
    int headCount = headCount(tile, queryHead);
    for (int row = 0; row < tileTokenCount[tile] * headCount; row++) {
      int head = headAt(tile, row / headCount, kvHead, queryHead) + row % headCount;
      float sink = sinkOf(head);
      found.merge(kernels, slot, splits[tile], row, sink, out, head * shape.valueDim());
      if (observesAttention(tile)) {
        observers.logSums()[head] = found.logSum(slot, splits[tile], row, sink);
      }
    }
  }

  /** Returns the sink score of a head, indexed over all rows. */
  private float sinkOf(int head) {
    return sinks.length == 0 ? Float.NEGATIVE_INFINITY : sinks[head % shape.queryHeads()];
  }

  private boolean observesAttention(int tile) {
    return tileCache[tile].attentionHorizon() > 0;
  }

  /** Returns the index over all rows of a head that shares {@code kvHead}. */
  private int headAt(int tile, int token, int kvHead, int queryHead) {
    int row = tileRow[tile] + token;
    return row * shape.queryHeads() + kvHead * shape.queriesPerKvHead() + queryHead;
  }
}
