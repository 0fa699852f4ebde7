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

  /** Query heads of a token that walk together: more of them are divided. */
  private static final int MOST_ROWS = PageReader.MOST_ROWS;

  private final AttentionShape shape;
  private final Kernels kernels;
  private final Crew crew;
  private final int blockTokens;
  private final int mostHeadParts;
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
  private boolean[] blockIsFew = new boolean[16];
  private int[] headParts = new int[16];

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
    this.mostHeadParts = Math.ceilDiv(shape.queriesPerKvHead(), MOST_ROWS);
    this.partials = new PartialOutputs(shape.valueDim());
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

  /** Adds the rows of a whole step of one sequence, from {@code position} on. */
  public void add(KvCache cache, int firstRow, int count, int position) {
    add(cache, firstRow, count, position, position, position + count);
  }

  /**
   * Adds {@code count} consecutive rows of one sequence from {@code position} on, which are a part
   * of its step over the positions from {@code stepBegin} to {@code stepEnd}. A step is cut into
   * blocks, and they are read, as if it came whole, so that a sequence finds the same whatever else
   * there is to do.
   */
  public void add(
      KvCache cache, int firstRow, int count, int position, int stepBegin, int stepEnd) {
    int end = position + count;
    int from = position;
    while (from < end) {
      int begin = from - (from - stepBegin) % blockTokens;
      int blockEnd = Math.min(begin + blockTokens, stepEnd);
      int to = Math.min(blockEnd, end);
      addBlock(cache, firstRow + from - position, to - from, from, blockEnd - begin);
      from = to;
    }
  }

  /**
   * @param stepTokens of the block, those included that this step of the engine leaves out
   */
  private void addBlock(KvCache cache, int row, int count, int position, int stepTokens) {
    if (blocks == blockRow.length) {
      grow();
    }
    int group = shape.queriesPerKvHead();
    blockCache[blocks] = cache;
    blockRow[blocks] = row;
    blockCount[blocks] = count;
    blockPosition[blocks] = position;
    blockIsFew[blocks] = stepTokens == 1 || stepTokens * group <= MOST_ROWS;
    headParts[blocks] = stepTokens == 1 ? Math.ceilDiv(group, MOST_ROWS) : 1;
    blocks++;
  }

  private void grow() {
    int size = 2 * blockRow.length;
    blockCache = Arrays.copyOf(blockCache, size);
    blockRow = Arrays.copyOf(blockRow, size);
    blockCount = Arrays.copyOf(blockCount, size);
    blockPosition = Arrays.copyOf(blockPosition, size);
    blockIsFew = Arrays.copyOf(blockIsFew, size);
    headParts = Arrays.copyOf(headParts, size);
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
      crew.run(merge, blocks * shape.kvHeads() * mostHeadParts);
    }
  }

  /** Cuts the past of every block into spans; answers how many of them must be merged. */
  private int plan() {
    int slots = 0;
    for (int block = 0; block < blocks; block++) {
      boolean cut = blockIsFew[block];
      firstSpan[block] = cut ? firstPage(block) / SPAN_PAGES : 0;
      spans[block] = cut ? lastPage(block) / SPAN_PAGES - firstSpan[block] + 1 : 1;
      firstSlot[block] = slots;
      int parts = spans[block] * headParts[block] * shape.kvHeads();
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
    int inBlock = part - firstPart[block];
    int heads = inBlock / spans[block];
    int span = inBlock % spans[block];
    int kvHead = heads / headParts[block];
    int queryHead = heads % headParts[block] * MOST_ROWS;
    int headCount = headCount(block, queryHead);
    PageWalk pages = walks[worker];
    pages.begin(blockCount[block], headCount, blockIsFew[block]);
    for (int token = 0; token < blockCount[block]; token++) {
      pages.query(token, queries, headAt(block, token, kvHead, queryHead) * shape.keyDim());
    }
    visitSpan(block, kvHead, span, pages);
    pages.end();
    if (spans[block] > 1) {
      pages.leave(partials, firstSlot[block] + inBlock);
      return;
    }
    for (int token = 0; token < blockCount[block]; token++) {
      pages.finish(token, out, headAt(block, token, kvHead, queryHead) * shape.valueDim());
    }
  }

  /** Query heads of a KV head that walk together, from {@code queryHead} of them on. */
  private int headCount(int block, int queryHead) {
    int group = shape.queriesPerKvHead();
    return headParts[block] == 1 ? group : Math.min(MOST_ROWS, group - queryHead);
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
    int block = part / (shape.kvHeads() * mostHeadParts);
    int heads = part % (shape.kvHeads() * mostHeadParts);
    if (spans[block] == 1 || heads >= shape.kvHeads() * headParts[block]) {
      return;
    }
    int kvHead = heads / headParts[block];
    int queryHead = heads % headParts[block] * MOST_ROWS;
    int slot = firstSlot[block] + heads * spans[block];
    int headCount = headCount(block, queryHead);
    for (int row = 0; row < blockCount[block] * headCount; row++) {
      int head = headAt(block, row / headCount, kvHead, queryHead) + row % headCount;
      partials.merge(kernels, slot, spans[block], row, out, head * shape.valueDim());
    }
  }

  /** One of the heads that share {@code kvHead}, counted through all rows. */
  private int headAt(int block, int token, int kvHead, int queryHead) {
    int row = blockRow[block] + token;
    return row * shape.queryHeads() + kvHead * shape.queriesPerKvHead() + queryHead;
  }
}
