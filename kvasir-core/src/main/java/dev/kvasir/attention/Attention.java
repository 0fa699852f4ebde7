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

  private static final int MAX_ROWS = QueryTile.MAX_ROWS;

  /** Parts per thread in a prefill step, since the last tiles take longer than the first. */
  private static final int PARTS_PER_THREAD = 4;

  /**
   * Parts per thread from which on KV heads pass together: with fewer, threads would wait for the
   * last part longer than the heads save.
   */
  private static final int MIN_PARTS_PER_THREAD = 2;

  private static final float[] NO_SINKS = {};

  private final AttentionShape shape;
  private final Kernels kernels;
  private final WorkerPool workers;
  private final int expandedTokens; // of a tile that shares expanded pages
  private final int storedTokens; // minimum for a tile on stored pages
  private final int maxPasses; // of a tile, over all KV heads
  private final HeadPasses[] passes; // by worker
  private final PartialOutputs partials;
  private final PartialOutputs[] workerPartials; // by worker
  private final AttentionObservers observers;
  private final WorkerPool.ParallelTask attendPart = this::attendPart;
  private final WorkerPool.ParallelTask merge = this::merge;

  private QueryTile[] tiles = {};
  private int tileCount; // of the current step
  private int slots; // of partial outputs to be merged in the current layer

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
    this.maxPasses = shape.kvHeads() * Math.ceilDiv(shape.queriesPerKvHead(), MAX_ROWS);
    this.partials = new PartialOutputs(MAX_ROWS, shape.valueDim());
    this.observers = new AttentionObservers(shape, kernels, workers);
    this.passes = new HeadPasses[workers.size()];
    this.workerPartials = new PartialOutputs[workers.size()];
    int maxRows = Math.max(PageReader.PREFILL_ROWS, expandedTokens * shape.queriesPerKvHead());
    for (int i = 0; i < passes.length; i++) {
      passes[i] = new HeadPasses(shape, kernels, maxRows);
      workerPartials[i] = new PartialOutputs(PageReader.PREFILL_ROWS, shape.valueDim());
    }
  }

  /** Drops the tiles of the last step. */
  public void begin() {
    for (int i = 0; i < tileCount; i++) {
      tiles[i].clear();
    }
    tileCount = 0;
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
    boolean prefillsOnStored = cache.prefillsOnStoredPages();
    int tokensPerTile =
        prefillsOnStored ? storedTokens(cache.maxQueryRows(), count) : expandedTokens;
    int end = position + count;
    int from = position;
    while (from < end) {
      int begin = from - (from - stepBegin) % tokensPerTile;
      int tileEnd = Math.min(begin + tokensPerTile, stepEnd);
      int to = Math.min(tileEnd, end);
      int stepTokens = tileEnd - begin; // including those outside this engine step
      boolean isFew = isFew(stepTokens);
      QueryTile tile = nextTile();
      tile.set(
          cache,
          firstRow + from - position,
          to - from,
          from,
          prefillsOnStored || isFew,
          isFew && begin == stepBegin && tileEnd == stepEnd,
          stepTokens == 1 ? Math.ceilDiv(shape.queriesPerKvHead(), MAX_ROWS) : 1);
      ensurePasses(tile.maxHeads());
      from = to;
    }
    observers.add(cache, firstRow, count, position);
  }

  private void ensurePasses(int heads) {
    if (heads > 1) {
      for (HeadPasses worker : passes) {
        worker.ensureCapacity(heads);
      }
    }
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

  private QueryTile nextTile() {
    if (tileCount == tiles.length) {
      tiles = Arrays.copyOf(tiles, Math.max(16, 2 * tileCount));
      for (int i = tileCount; i < tiles.length; i++) {
        tiles[i] = new QueryTile(shape);
      }
    }
    return tiles[tileCount++];
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
    attendUnobserved(atLayer, attentionWindow, scoresOfSinks, rotatedQueries, output);
    observers.report(layer, window, queries);
  }

  /**
   * Attends in the same way without reporting attention mass. For further layers that read the same
   * keys and values: caches observe each query once.
   */
  public void attendUnobserved(
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
    int parts = plan(true);
    if (workers.size() > 1 && parts < MIN_PARTS_PER_THREAD * workers.size()) {
      parts = plan(false);
    }
    workers.run(attendPart, parts);
    if (slots > 0) {
      workers.run(merge, tileCount * maxPasses);
    }
  }

  /** Plans the tiles of a layer and returns their parts. */
  private int plan(boolean passTogether) {
    int parts = 0;
    slots = 0;
    for (int i = 0; i < tileCount; i++) {
      tiles[i].plan(window, passTogether, parts, slots);
      parts = tiles[i].endPart();
      slots += tiles[i].slots();
    }
    partials.ensureCapacity(slots);
    return parts;
  }

  private void attendPart(int part, int worker) {
    QueryTile tile = tileOf(part);
    HeadPasses mine = passes[worker];
    int pass = tile.passOf(part);
    if (tile.isSplit()) {
      int split = tile.splitOf(part);
      tile.attend(mine, layer, window, queries, pass, split);
      for (int head = 0; head < tile.heads(); head++) {
        mine.of(head).store(partials, tile.slotOfPass(pass + head) + split);
      }
    } else if (tile.splits() > 1) {
      attendSplits(tile, pass, worker);
    } else {
      tile.attend(mine, layer, window, queries, pass, 0);
      for (int head = 0; head < tile.heads(); head++) {
        finish(tile, pass + head, mine.of(head));
      }
    }
  }

  /** Returns the tile of a part: the last one that does not start after it. */
  private QueryTile tileOf(int part) {
    int low = 0;
    int high = tileCount - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (tiles[middle].firstPart() <= part) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return tiles[low];
  }

  /** Computes all splits on one worker, with the same passes and sums as several threads. */
  private void attendSplits(QueryTile tile, int pass, int worker) {
    PartialOutputs workerOutputs = workerPartials[worker];
    int splits = tile.splits();
    workerOutputs.ensureCapacity(splits * tile.heads());
    for (int split = 0; split < splits; split++) {
      tile.attend(passes[worker], layer, window, queries, pass, split);
      for (int head = 0; head < tile.heads(); head++) {
        passes[worker].of(head).store(workerOutputs, head * splits + split);
      }
    }
    for (int head = 0; head < tile.heads(); head++) {
      merge(tile, pass + head, workerOutputs, head * splits);
    }
  }

  /** Writes the output of a pass over the whole past. */
  private void finish(QueryTile tile, int pass, KvPass kvPass) {
    for (int token = 0; token < tile.tokens(); token++) {
      int head = tile.headAt(token, pass);
      kvPass.sink(token, sinks, head % shape.queryHeads());
      kvPass.finish(token, out, head * shape.valueDim());
      if (tile.observesAttention()) {
        kvPass.writeLogSums(token, observers.logSums(), head);
      }
    }
  }

  private void merge(int part, int worker) {
    QueryTile tile = tiles[part / maxPasses];
    int pass = part % maxPasses;
    if (tile.isSplit() && pass < tile.passes()) {
      merge(tile, pass, partials, tile.slotOfPass(pass));
    }
  }

  private void merge(QueryTile tile, int pass, PartialOutputs found, int slot) {
    int headCount = tile.headCount(pass);
    for (int row = 0; row < tile.tokens() * headCount; row++) {
      int head = tile.headAt(row / headCount, pass) + row % headCount;
      float sink = sinkOf(head);
      found.merge(kernels, slot, tile.splits(), row, sink, out, head * shape.valueDim());
      if (tile.observesAttention()) {
        observers.logSums()[head] = found.logSum(slot, tile.splits(), row, sink);
      }
    }
  }

  /** Returns the sink score of a head, indexed over all rows. */
  private float sinkOf(int head) {
    return sinks.length == 0 ? Float.NEGATIVE_INFINITY : sinks[head % shape.queryHeads()];
  }
}
