package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.page.Page;
import dev.kvasir.page.UniformPage;
import java.util.Arrays;

/**
 * Causal attention of a step's queries over the caches of their sequences, with a running maximum
 * and sum so that scores never exist for more than a page at a time. All query heads that share a
 * KV head, and a block of tokens, walk a page together while it is warm.
 *
 * <p>Holds its scratch memory, so one instance serves one caller at a time.
 */
public final class Attention implements Crew.Work {
  private static final int PAGE = KvCache.TOKENS_PER_PAGE;

  /** Query rows that share an expanded page: enough to make its expansion cheap. */
  private static final int BLOCK_ROWS = 64;

  private final AttentionShape shape;
  private final Kernels kernels;
  private final Crew crew;
  private final int blockTokens;
  private final Scratch[] scratches;

  // Blocks of the step at hand: the same for all of its layers.
  private int blocks;
  private KvCache[] blockCache = new KvCache[16];
  private int[] blockRow = new int[16];
  private int[] blockCount = new int[16];
  private int[] blockPosition = new int[16];

  private int layer;
  private int window;
  private float[] queries;
  private float[] out;

  /** One worker's room. */
  private static final class Scratch {
    final float[] queries; // (rows, headDim)
    final float[] mixed; // (rows, headDim)
    final float[] scores; // (rows, PAGE)
    final float[] maxima; // (rows)
    final float[] sums; // (rows)
    final float[] keys; // (PAGE, headDim)
    final float[] values; // (PAGE, headDim)
    final UniformLookups lookups; // null where heads cannot be looked up

    Scratch(int rows, int headDim) {
      queries = new float[rows * headDim];
      mixed = new float[rows * headDim];
      scores = new float[rows * PAGE];
      maxima = new float[rows];
      sums = new float[rows];
      keys = new float[PAGE * headDim];
      values = new float[PAGE * headDim];
      lookups = UniformLookups.supports(headDim) ? new UniformLookups(headDim) : null;
    }
  }

  public Attention(AttentionShape shape, Kernels kernels, Crew crew) {
    this.shape = shape;
    this.kernels = kernels;
    this.crew = crew;
    this.blockTokens = Math.max(1, BLOCK_ROWS / shape.queriesPerKvHead());
    this.scratches = new Scratch[crew.size()];
    for (int i = 0; i < scratches.length; i++) {
      scratches[i] = new Scratch(blockTokens * shape.queriesPerKvHead(), shape.headDim());
    }
  }

  /** Forgets the blocks of the last step. */
  public void begin() {
    Arrays.fill(blockCache, 0, blocks, null);
    blocks = 0;
  }

  /** Adds {@code count} consecutive rows that belong to one sequence from {@code position} on. */
  public void add(KvCache cache, int firstRow, int count, int position) {
    for (int done = 0; done < count; done += blockTokens) {
      if (blocks == blockRow.length) {
        grow();
      }
      blockCache[blocks] = cache;
      blockRow[blocks] = firstRow + done;
      blockCount[blocks] = Math.min(blockTokens, count - done);
      blockPosition[blocks] = position + done;
      blocks++;
    }
  }

  private void grow() {
    int size = 2 * blockRow.length;
    blockCache = Arrays.copyOf(blockCache, size);
    blockRow = Arrays.copyOf(blockRow, size);
    blockCount = Arrays.copyOf(blockCount, size);
    blockPosition = Arrays.copyOf(blockPosition, size);
  }

  /**
   * Attends in one layer; its keys and values must have been appended.
   *
   * @param attentionWindow positions that a query sees, itself included
   * @param rotatedQueries (rows, queryHeads, headDim)
   * @param output (rows, queryHeads, headDim)
   */
  public void attend(int atLayer, int attentionWindow, float[] rotatedQueries, float[] output) {
    layer = atLayer;
    window = attentionWindow;
    queries = rotatedQueries;
    out = output;
    crew.run(this, blocks * shape.kvHeads());
  }

  @Override
  public void part(int part, int worker) {
    int block = part / shape.kvHeads();
    int kvHead = part % shape.kvHeads();
    Scratch scratch = scratches[worker];
    int rows = blockCount[block] * shape.queriesPerKvHead();
    gatherQueries(block, kvHead, scratch);
    Arrays.fill(scratch.mixed, 0, rows * shape.headDim(), 0);
    Arrays.fill(scratch.maxima, 0, rows, Float.NEGATIVE_INFINITY);
    Arrays.fill(scratch.sums, 0, rows, 0);

    int end = blockPosition[block] + blockCount[block];
    int firstSeen = Math.max(0, blockPosition[block] - window + 1);
    KvCache cache = blockCache[block];
    for (int page = cache.blockOf(firstSeen); cache.firstPosition(page) < end; page++) {
      int tokens = Math.min(cache.firstPosition(page + 1), end) - cache.firstPosition(page);
      attendToPage(block, kvHead, page, tokens, rows, scratch);
    }
    scatterOutput(block, kvHead, scratch);
  }

  private void attendToPage(
      int block, int kvHead, int page, int tokens, int rows, Scratch scratch) {
    KvCache cache = blockCache[block];
    Page packed = cache.page(layer, page);
    boolean onBits =
        rows <= UniformLookups.MOST_ROWS
            && tokens == PAGE
            && scratch.lookups != null
            && packed instanceof UniformPage;
    if (onBits) {
      UniformPage uniform = (UniformPage) packed;
      scratch.lookups.score(kernels, uniform, kvHead, scratch.queries, rows, scratch.scores, PAGE);
    } else {
      scoreExpanded(cache, kvHead, page, tokens, rows, scratch);
    }
    for (int row = 0; row < rows; row++) {
      int position = blockPosition[block] + row / shape.queriesPerKvHead();
      weigh(row, position - cache.firstPosition(page), tokens, scratch);
    }
    if (onBits) {
      UniformPage uniform = (UniformPage) packed;
      scratch.lookups.mix(kernels, uniform, kvHead, scratch.scores, PAGE, rows, scratch.mixed);
    } else {
      mixExpanded(cache, kvHead, page, tokens, rows, scratch);
    }
  }

  private void scoreExpanded(
      KvCache cache, int kvHead, int page, int tokens, int rows, Scratch scratch) {
    int headDim = shape.headDim();
    cache.expandKeys(kernels, layer, kvHead, page, tokens, scratch.keys);
    kernels.products(
        scratch.queries,
        0,
        headDim,
        rows,
        scratch.keys,
        0,
        headDim,
        tokens,
        headDim,
        scratch.scores,
        0,
        PAGE);
  }

  private void mixExpanded(
      KvCache cache, int kvHead, int page, int tokens, int rows, Scratch scratch) {
    int headDim = shape.headDim();
    cache.expandValues(kernels, layer, kvHead, page, tokens, scratch.values);
    kernels.weightedSums(
        scratch.scores,
        0,
        PAGE,
        rows,
        scratch.values,
        0,
        headDim,
        tokens,
        headDim,
        scratch.mixed,
        0,
        headDim);
  }

  /** Turns a row's scores into weights under its new running maximum; unseen tokens weigh zero. */
  private void weigh(int row, int lastSeen, int tokens, Scratch scratch) {
    int at = row * PAGE;
    int from = Math.clamp(lastSeen - (long) window + 1, 0, tokens);
    int to = Math.clamp(lastSeen + 1L, 0, tokens);
    if (from >= to) {
      Arrays.fill(scratch.scores, at, at + tokens, 0);
      return;
    }
    Arrays.fill(scratch.scores, at, at + from, 0);
    Arrays.fill(scratch.scores, at + to, at + tokens, 0);
    float before = scratch.maxima[row];
    float now = Math.max(before, kernels.maximum(scratch.scores, at + from, to - from));
    float sum = kernels.exponentiate(scratch.scores, at + from, to - from, now);
    if (now > before) {
      float shrink = (float) Math.exp(before - now);
      scratch.maxima[row] = now;
      scratch.sums[row] *= shrink;
      kernels.scale(scratch.mixed, row * shape.headDim(), shape.headDim(), shrink);
    }
    scratch.sums[row] += sum;
  }

  private void gatherQueries(int block, int kvHead, Scratch scratch) {
    int length = shape.queriesPerKvHead() * shape.headDim();
    for (int token = 0; token < blockCount[block]; token++) {
      System.arraycopy(
          queries, headsAt(block, token, kvHead), scratch.queries, token * length, length);
    }
    float scale = (float) (1 / Math.sqrt(shape.headDim()));
    kernels.scale(scratch.queries, 0, blockCount[block] * length, scale);
  }

  private void scatterOutput(int block, int kvHead, Scratch scratch) {
    int headDim = shape.headDim();
    int group = shape.queriesPerKvHead();
    for (int token = 0; token < blockCount[block]; token++) {
      for (int head = 0; head < group; head++) {
        int row = token * group + head;
        kernels.scale(scratch.mixed, row * headDim, headDim, 1 / scratch.sums[row]);
      }
      System.arraycopy(
          scratch.mixed,
          token * group * headDim,
          out,
          headsAt(block, token, kvHead),
          group * headDim);
    }
  }

  /** Where the heads that share {@code kvHead} begin in a row of queries or outputs. */
  private int headsAt(int block, int token, int kvHead) {
    int row = blockRow[block] + token;
    return (row * shape.queryHeads() + kvHead * shape.queriesPerKvHead()) * shape.headDim();
  }
}
