package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.PageReader;
import dev.kvasir.kernel.Crew;
import dev.kvasir.kernel.Kernels;
import java.util.Arrays;

/**
 * Causal attention of a step's queries over the caches of their sequences. All query heads that
 * share a KV head, and a strip of tokens, walk a page together while it is warm; a long past is cut
 * into spans of pages that are walked by different threads and merged.
 *
 * <p>Spans lie where they lie whatever the number of threads, or the order of sums, and with it the
 * text of a seed, would depend on the machine.
 *
 * <p>Holds its scratch memory, so one instance serves one caller at a time.
 */
public final class Attention {
  /** Query rows that share an expanded page: enough to make its expansion cheap. */
  private static final int EXPANDED_ROWS = 128;

  /** Pages of a span: a tenth of a millisecond's work and more, beside which merging is nothing. */
  private static final int SPAN_PAGES = 16;

  /** Query heads of a token that walk together: more of them are divided. */
  private static final int MOST_ROWS = PageReader.MOST_ROWS;

  /** Parts that a thread gets of a prompt's step: the last ones are longer than the first. */
  private static final int PARTS_OF_A_THREAD = 4;

  private static final float[] NO_SINKS = {};

  private final AttentionShape shape;
  private final Kernels kernels;
  private final Crew crew;
  private final int expandedTokens; // of a strip that shares expanded pages
  private final int storedTokens; // of one that computes on what is stored, at the least
  private final int mostHeadParts;
  private final PageWalk[] walks;
  private final PartialOutputs partials;
  private final PartialOutputs[] ownPartials; // of each worker
  private final Receivers receivers;
  private final Crew.Work walk = this::walk;
  private final Crew.Work merge = this::merge;

  // Strips of the step at hand: the same for all of its layers.
  private int strips;
  private KvCache[] stripCache = new KvCache[16];
  private int[] stripRow = new int[16];
  private int[] stripCount = new int[16];
  private int[] stripPosition = new int[16];
  private boolean[] stripIsStored = new boolean[16]; // computes on what is stored
  private boolean[] stripIsAlone = new boolean[16]; // of its step, and of few rows
  private int[] headParts = new int[16];

  // How the strips fall into spans in the layer at hand.
  private int[] firstSpan = new int[16];
  private int[] spans = new int[16];
  private int[] firstPart = new int[17];
  private int[] firstSlot = new int[16];

  private int layer;
  private int window;
  private float[] sinks; // (queryHeads), or empty
  private float[] queries;
  private float[] out;

  public Attention(AttentionShape shape, Kernels kernels, Crew crew) {
    this.shape = shape;
    this.kernels = kernels;
    this.crew = crew;
    this.expandedTokens = Math.max(1, EXPANDED_ROWS / shape.queriesPerKvHead());
    this.storedTokens = Math.max(1, MOST_ROWS / shape.queriesPerKvHead());
    this.mostHeadParts = Math.ceilDiv(shape.queriesPerKvHead(), MOST_ROWS);
    this.partials = new PartialOutputs(MOST_ROWS, shape.valueDim());
    this.receivers = new Receivers(shape, kernels, crew);
    this.walks = new PageWalk[crew.size()];
    this.ownPartials = new PartialOutputs[crew.size()];
    int mostRows = Math.max(PageReader.PROMPT_ROWS, expandedTokens * shape.queriesPerKvHead());
    for (int i = 0; i < walks.length; i++) {
      walks[i] = new PageWalk(shape, kernels, mostRows);
      ownPartials[i] = new PartialOutputs(PageReader.PROMPT_ROWS, shape.valueDim());
    }
  }

  /** Forgets the strips of the last step. */
  public void begin() {
    Arrays.fill(stripCache, 0, strips, null);
    strips = 0;
    receivers.begin();
  }

  /** Adds the rows of a whole step of one sequence, from {@code position} on. */
  public void add(KvCache cache, int firstRow, int count, int position) {
    add(cache, firstRow, count, position, position, position + count);
  }

  /**
   * Adds {@code count} consecutive rows of one sequence from {@code position} on, which are a part
   * of its step over the positions from {@code stepBegin} to {@code stepEnd}. Where pages are
   * expanded, a step is cut into strips, and they are read, as if it came whole, so that a sequence
   * finds the same whatever else there is to do. Rows that compute on what is stored find the same
   * in any company.
   */
  public void add(
      KvCache cache, int firstRow, int count, int position, int stepBegin, int stepEnd) {
    int stripTokens =
        cache.readsPromptsAsStored() ? storedTokens(cache.rowsTogether(), count) : expandedTokens;
    int end = position + count;
    int from = position;
    while (from < end) {
      int begin = from - (from - stepBegin) % stripTokens;
      int stripEnd = Math.min(begin + stripTokens, stepEnd);
      int to = Math.min(stripEnd, end);
      addStrip(cache, firstRow + from - position, to - from, from, stripEnd - begin);
      boolean few = isFew(stripEnd - begin);
      stripIsAlone[strips - 1] = few && begin == stepBegin && stripEnd == stepEnd;
      from = to;
    }
    receivers.add(cache, firstRow, count, position);
  }

  /** Tokens of a strip: as many as read together, or fewer where threads would go without. */
  private int storedTokens(int rowsTogether, int count) {
    int most = Math.max(storedTokens, rowsTogether / shape.queriesPerKvHead());
    int parts = PARTS_OF_A_THREAD * crew.size();
    return Math.clamp((long) count * shape.kvHeads() / parts, storedTokens, most);
  }

  /** Whether a strip's rows are as few as those of a single token. */
  private boolean isFew(int stepTokens) {
    return stepTokens == 1 || stepTokens * shape.queriesPerKvHead() <= MOST_ROWS;
  }

  /**
   * @param stepTokens of the strip, those included that this step of the engine leaves out
   */
  private void addStrip(KvCache cache, int row, int count, int position, int stepTokens) {
    if (strips == stripRow.length) {
      grow();
    }
    int group = shape.queriesPerKvHead();
    stripCache[strips] = cache;
    stripRow[strips] = row;
    stripCount[strips] = count;
    stripPosition[strips] = position;
    stripIsStored[strips] = cache.readsPromptsAsStored() || isFew(stepTokens);
    headParts[strips] = stepTokens == 1 ? Math.ceilDiv(group, MOST_ROWS) : 1;
    strips++;
  }

  private void grow() {
    int size = 2 * stripRow.length;
    stripCache = Arrays.copyOf(stripCache, size);
    stripRow = Arrays.copyOf(stripRow, size);
    stripCount = Arrays.copyOf(stripCount, size);
    stripPosition = Arrays.copyOf(stripPosition, size);
    stripIsStored = Arrays.copyOf(stripIsStored, size);
    stripIsAlone = Arrays.copyOf(stripIsAlone, size);
    headParts = Arrays.copyOf(headParts, size);
    firstSpan = new int[size];
    spans = new int[size];
    firstPart = new int[size + 1];
    firstSlot = new int[size];
  }

  /** Attends in one layer without sinks. */
  public void attend(int atLayer, int attentionWindow, float[] rotatedQueries, float[] output) {
    attend(atLayer, attentionWindow, NO_SINKS, rotatedQueries, output);
  }

  /**
   * Attends in one layer; its keys and values must have been appended. Caches that want to know are
   * told how much their tokens were looked at.
   *
   * @param attentionWindow positions that a query sees, itself included
   * @param scoresOfSinks for each query head a score that takes its share and gives nothing, or
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
    crew.run(walk, firstPart[strips]);
    if (slots > 0) {
      crew.run(merge, strips * shape.kvHeads() * mostHeadParts);
    }
    receivers.tell(layer, window, queries);
  }

  /** Cuts the past of every strip into spans; answers how many of them must be merged. */
  private int plan() {
    int slots = 0;
    for (int strip = 0; strip < strips; strip++) {
      boolean cut = stripIsStored[strip];
      firstSpan[strip] = cut ? firstPage(strip) / SPAN_PAGES : 0;
      spans[strip] = cut ? lastPage(strip) / SPAN_PAGES - firstSpan[strip] + 1 : 1;
      firstSlot[strip] = slots;
      int walksOfHead = isDivided(strip) ? spans[strip] : 1;
      int parts = walksOfHead * headParts[strip] * shape.kvHeads();
      firstPart[strip + 1] = firstPart[strip] + parts;
      slots += isDivided(strip) ? parts : 0;
    }
    partials.makeRoom(slots);
    return slots;
  }

  /**
   * Whether different threads walk over a strip's spans. A prompt's strips are enough for all
   * threads, and what all of their spans found would take much room.
   */
  private boolean isDivided(int strip) {
    return spans[strip] > 1 && stripIsAlone[strip];
  }

  private int firstPage(int strip) {
    return stripCache[strip].blockOf(Math.max(0, stripPosition[strip] - window + 1));
  }

  private int lastPage(int strip) {
    return stripCache[strip].blockOf(stripPosition[strip] + stripCount[strip] - 1);
  }

  private void walk(int part, int worker) {
    int found = Arrays.binarySearch(firstPart, 0, strips, part);
    int strip = found >= 0 ? found : -found - 2;
    int inStrip = part - firstPart[strip];
    int walksOfHead = isDivided(strip) ? spans[strip] : 1;
    int heads = inStrip / walksOfHead;
    int kvHead = heads / headParts[strip];
    int queryHead = heads % headParts[strip] * MOST_ROWS;
    if (isDivided(strip)) {
      walkSpan(strip, kvHead, queryHead, inStrip % walksOfHead, walks[worker]);
      walks[worker].leave(partials, firstSlot[strip] + inStrip);
    } else if (spans[strip] > 1) {
      walkSpans(strip, kvHead, queryHead, worker);
    } else {
      walkSpan(strip, kvHead, queryHead, 0, walks[worker]);
      for (int token = 0; token < stripCount[strip]; token++) {
        int head = headAt(strip, token, kvHead, queryHead);
        walks[worker].sink(token, sinks, head % shape.queryHeads());
        walks[worker].finish(token, out, head * shape.valueDim());
        if (receives(strip)) {
          walks[worker].leaveLogSums(token, receivers.logSums(), head);
        }
      }
    }
  }

  private void walkSpan(int strip, int kvHead, int queryHead, int span, PageWalk pages) {
    pages.begin(stripCount[strip], headCount(strip, queryHead), stripIsStored[strip]);
    for (int token = 0; token < stripCount[strip]; token++) {
      pages.query(token, queries, headAt(strip, token, kvHead, queryHead) * shape.keyDim());
    }
    visitSpan(strip, kvHead, span, pages);
    pages.end();
  }

  /** The same walks and sums as by several threads. */
  private void walkSpans(int strip, int kvHead, int queryHead, int worker) {
    PartialOutputs own = ownPartials[worker];
    own.makeRoom(spans[strip]);
    for (int span = 0; span < spans[strip]; span++) {
      walkSpan(strip, kvHead, queryHead, span, walks[worker]);
      walks[worker].leave(own, span);
    }
    merge(strip, kvHead, queryHead, own, 0);
  }

  /** Query heads of a KV head that walk together, from {@code queryHead} of them on. */
  private int headCount(int strip, int queryHead) {
    int group = shape.queriesPerKvHead();
    return headParts[strip] == 1 ? group : Math.min(MOST_ROWS, group - queryHead);
  }

  private void visitSpan(int strip, int kvHead, int span, PageWalk pages) {
    KvCache cache = stripCache[strip];
    int position = stripPosition[strip];
    int end = position + stripCount[strip];
    int first = firstPage(strip);
    int last = lastPage(strip);
    if (spans[strip] > 1) {
      int from = (firstSpan[strip] + span) * SPAN_PAGES;
      first = Math.max(first, from);
      last = Math.min(last, from + SPAN_PAGES - 1);
    }
    pages.foresee(cache, layer, kvHead, first, last);
    for (int page = first; page <= last; page++) {
      int tokens = Math.min(cache.firstPosition(page + 1), end) - cache.firstPosition(page);
      pages.visit(cache, layer, kvHead, page, position, tokens, window);
    }
  }

  private void merge(int part, int worker) {
    int strip = part / (shape.kvHeads() * mostHeadParts);
    int heads = part % (shape.kvHeads() * mostHeadParts);
    if (!isDivided(strip) || heads >= shape.kvHeads() * headParts[strip]) {
      return;
    }
    int queryHead = heads % headParts[strip] * MOST_ROWS;
    int slot = firstSlot[strip] + heads * spans[strip];
    merge(strip, heads / headParts[strip], queryHead, partials, slot);
  }

  private void merge(int strip, int kvHead, int queryHead, PartialOutputs found, int slot) {
    int headCount = headCount(strip, queryHead);
    for (int row = 0; row < stripCount[strip] * headCount; row++) {
      int head = headAt(strip, row / headCount, kvHead, queryHead) + row % headCount;
      float sink = sinkOf(head);
      found.merge(kernels, slot, spans[strip], row, sink, out, head * shape.valueDim());
      if (receives(strip)) {
        receivers.logSums()[head] = found.logSum(slot, spans[strip], row, sink);
      }
    }
  }

  /** By a head that is counted through all rows. */
  private float sinkOf(int head) {
    return sinks.length == 0 ? Float.NEGATIVE_INFINITY : sinks[head % shape.queryHeads()];
  }

  private boolean receives(int strip) {
    return stripCache[strip].receivingQueries() > 0;
  }

  /** One of the heads that share {@code kvHead}, counted through all rows. */
  private int headAt(int strip, int token, int kvHead, int queryHead) {
    int row = stripRow[strip] + token;
    return row * shape.queryHeads() + kvHead * shape.queriesPerKvHead() + queryHead;
  }
}
