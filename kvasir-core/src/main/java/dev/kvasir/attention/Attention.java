package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/**
 * Causal attention of a step's queries over the caches of their sequences. All query heads that
 * share a KV head, and a block of tokens, walk a page together while it is warm; a long past is cut
 * into spans of pages that are walked by different threads and merged.
 *
 * <p>Spans lie where they lie whatever the number of threads, or the order of sums, and with it the
 * text of a seed, would depend on the machine.
 *
 * <p>Holds its scratch memory, so one instance serves one caller at a time.
 */
public final class Attention {
  /** Query rows that share an expanded page: enough to make its expansion cheap. */
  private static final int BLOCK_ROWS = 128;

  /** Pages of a span: a tenth of a millisecond's work and more, beside which merging is nothing. */
  private static final int SPAN_PAGES = 16;

  private final AttentionShape shape;
  private final Kernels kernels;
  private final Crew crew;
  private final int blockTokens;
  private final PageWalk[] walks;
  private final PartialOutputs partials;
  private final Crew.Work walk = this::walk;
  private final Crew.Work merge = this::merge;

  // Blocks of the step at hand: the same for all of its layers.
  private int blocks;
  private KvCache[] blockCache = new KvCache[16];
  private int[] blockRow = new int[16];
  private int[] blockCount = new int[16];
  private int[] blockPosition = new int[16];

  // How the blocks fall into spans in the layer at hand.
  private int[] firstSpan = new int[16];
  private int[] spans = new int[16];
  private int[] firstPart = new int[17];
  private int[] firstSlot = new int[16];

  private int layer;
  private int window;
  private float[] queries;
  private float[] out;

  public Attention(AttentionShape shape, Kernels kernels, Crew crew) {
    this.shape = shape;
    this.kernels = kernels;
    this.crew = crew;
    this.blockTokens = Math.max(1, BLOCK_ROWS / shape.queriesPerKvHead());
    this.partials = new PartialOutputs(shape.headDim());
    this.walks = new PageWalk[crew.size()];
    for (int i = 0; i < walks.length; i++) {
      walks[i] = new PageWalk(shape, kernels, blockTokens * shape.queriesPerKvHead());
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
    firstSpan = new int[size];
    spans = new int[size];
    firstPart = new int[size + 1];
    firstSlot = new int[size];
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
    int slots = plan();
    crew.run(walk, firstPart[blocks]);
    if (slots > 0) {
      crew.run(merge, blocks * shape.kvHeads());
    }
  }

  /** Cuts the past of every block into spans; answers how many of them must be merged. */
  private int plan() {
    int slots = 0;
    for (int block = 0; block < blocks; block++) {
      boolean cut = blockCount[block] * shape.queriesPerKvHead() <= PageReader.MOST_ROWS;
      firstSpan[block] = cut ? firstPage(block) / SPAN_PAGES : 0;
      spans[block] = cut ? lastPage(block) / SPAN_PAGES - firstSpan[block] + 1 : 1;
      firstSlot[block] = slots;
      int parts = spans[block] * shape.kvHeads();
      firstPart[block + 1] = firstPart[block] + parts;
      slots += spans[block] == 1 ? 0 : parts;
    }
    partials.makeRoom(slots);
    return slots;
  }

  private int firstPage(int block) {
    return blockCache[block].blockOf(Math.max(0, blockPosition[block] - window + 1));
  }

  private int lastPage(int block) {
    return blockCache[block].blockOf(blockPosition[block] + blockCount[block] - 1);
  }

  private void walk(int part, int worker) {
    int found = Arrays.binarySearch(firstPart, 0, blocks, part);
    int block = found >= 0 ? found : -found - 2;
    int kvHead = (part - firstPart[block]) / spans[block];
    int span = (part - firstPart[block]) % spans[block];
    PageWalk pages = walks[worker];
    int group = shape.queriesPerKvHead();
    pages.begin(blockCount[block] * group);
    for (int token = 0; token < blockCount[block]; token++) {
      pages.query(token * group, queries, headsAt(block, token, kvHead));
    }
    visitSpan(block, kvHead, span, pages);
    pages.end();
    if (spans[block] > 1) {
      pages.leave(partials, firstSlot[block] + part - firstPart[block]);
      return;
    }
    for (int token = 0; token < blockCount[block]; token++) {
      pages.finish(token * group, out, headsAt(block, token, kvHead));
    }
  }

  private void visitSpan(int block, int kvHead, int span, PageWalk pages) {
    KvCache cache = blockCache[block];
    int position = blockPosition[block];
    int end = position + blockCount[block];
    int first = firstPage(block);
    int last = lastPage(block);
    if (spans[block] > 1) {
      int from = (firstSpan[block] + span) * SPAN_PAGES;
      first = Math.max(first, from);
      last = Math.min(last, from + SPAN_PAGES - 1);
    }
    for (int page = first; page <= last; page++) {
      int tokens = Math.min(cache.firstPosition(page + 1), end) - cache.firstPosition(page);
      pages.visit(cache, layer, kvHead, page, position, tokens, window);
    }
  }

  private void merge(int part, int worker) {
    int block = part / shape.kvHeads();
    int kvHead = part % shape.kvHeads();
    if (spans[block] == 1) {
      return;
    }
    int slot = firstSlot[block] + kvHead * spans[block];
    int group = shape.queriesPerKvHead();
    for (int row = 0; row < blockCount[block] * group; row++) {
      int at = headsAt(block, row / group, kvHead) + row % group * shape.headDim();
      partials.merge(kernels, slot, spans[block], row, out, at);
    }
  }

  /** Where the heads that share {@code kvHead} begin in a row of queries or outputs. */
  private int headsAt(int block, int token, int kvHead) {
    int row = blockRow[block] + token;
    return (row * shape.queryHeads() + kvHead * shape.queriesPerKvHead()) * shape.headDim();
  }
}
