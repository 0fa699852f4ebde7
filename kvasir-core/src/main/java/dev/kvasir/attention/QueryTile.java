package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.codec.PageReader;

/**
 * The query heads of a KV head for some consecutive tokens of a sequence, with the KV splits of
 * their past. An instance is reused from step to step.
 */
final class QueryTile {
  /** Maximum query heads of a token in one pass; more heads are divided. */
  static final int MAX_ROWS = PageReader.MAX_ROWS;

  /**
   * Pages of a KV split: at least a tenth of a millisecond of work, so that merging costs little.
   */
  private static final int SPLIT_PAGES = 16;

  private final AttentionShape shape;

  // The same for all layers of a step.
  private KvCache cache;
  private int firstRow;
  private int tokens;
  private int position;
  private boolean isStored;
  private boolean isAlone;
  private int headParts;
  private int maxHeads; // KV heads that can pass together

  // The KV splits of the current layer.
  private int heads; // KV heads that pass together
  private int firstPage;
  private int lastPage;
  private int firstSplit;
  private int splits;
  private int firstPart;
  private int firstSlot;

  QueryTile(AttentionShape shape) {
    this.shape = shape;
  }

  /**
   * Sets the rows of a step.
   *
   * @param row row of the first token
   * @param count consecutive tokens
   * @param at position of the first token
   * @param computesOnStored whether rows compute on stored pages, or on expanded ones
   * @param isOnly whether it is the only tile of its sequence's step, with few rows
   * @param parts passes that the query heads of a KV head are divided into
   */
  void set(
      KvCache source,
      int row,
      int count,
      int at,
      boolean computesOnStored,
      boolean isOnly,
      int parts) {
    cache = source;
    firstRow = row;
    tokens = count;
    position = at;
    isStored = computesOnStored;
    isAlone = isOnly;
    headParts = parts;
    maxHeads = isOnly && parts == 1 ? headsTogether(source) : 1;
  }

  private int headsTogether(KvCache source) {
    int together = source.headsPerPass();
    return shape.kvHeads() % together == 0 ? together : 1;
  }

  /** Returns how many KV heads can pass together. */
  int maxHeads() {
    return maxHeads;
  }

  /** Drops the reference to the cache. */
  void clear() {
    cache = null;
  }

  /**
   * Cuts the past that a layer reads into KV splits.
   *
   * @param window positions that a query sees, itself included
   * @param passTogether whether KV heads pass together that read blocks faster so
   * @param part index of its first part among the parts of all tiles
   * @param slot its first partial output, if {@link #isSplit}
   */
  void plan(int window, boolean passTogether, int part, int slot) {
    heads = passTogether ? maxHeads : 1;
    firstPage = cache.blockOf(Math.max(0, position - window + 1));
    lastPage = cache.blockOf(position + tokens - 1);
    firstSplit = isStored ? firstPage / SPLIT_PAGES : 0;
    splits = isStored ? lastPage / SPLIT_PAGES - firstSplit + 1 : 1;
    firstPart = part;
    firstSlot = slot;
  }

  int tokens() {
    return tokens;
  }

  int splits() {
    return splits;
  }

  int firstPart() {
    return firstPart;
  }

  /** Returns the index after its last part. */
  int endPart() {
    return firstPart + passesPerHead() * passes() / heads;
  }

  /** Returns how many of its partial outputs different threads compute. */
  int slots() {
    return isSplit() ? splits * passes() : 0;
  }

  /** Returns the first slot of a pass. */
  int slotOfPass(int pass) {
    return firstSlot + pass * splits;
  }

  /**
   * Returns whether different threads compute the splits. The tiles of a prompt keep all threads
   * busy, and their partial outputs would take much memory.
   */
  boolean isSplit() {
    return splits > 1 && isAlone;
  }

  private int passesPerHead() {
    return isSplit() ? splits : 1;
  }

  /** Returns the first pass of a part, over all KV heads. */
  int passOf(int part) {
    return (part - firstPart) / passesPerHead() * heads;
  }

  /** Returns the passes of a part: one for each KV head that passes together. */
  int heads() {
    return heads;
  }

  /** Returns the split that a part computes if the tile is split; 0 otherwise. */
  int splitOf(int part) {
    return (part - firstPart) % passesPerHead();
  }

  /** Returns the number of passes over all KV heads. */
  int passes() {
    return shape.kvHeads() * headParts;
  }

  int kvHead(int pass) {
    return pass / headParts;
  }

  /** Returns the first query head of a pass, among those that share its KV head. */
  private int queryHead(int pass) {
    return pass % headParts * MAX_ROWS;
  }

  /** Returns the query heads of a pass. */
  int headCount(int pass) {
    int group = shape.queriesPerKvHead();
    return headParts == 1 ? group : Math.min(MAX_ROWS, group - queryHead(pass));
  }

  /** Returns the index, over all rows of the step, of a token's first head of a pass. */
  int headAt(int token, int pass) {
    return (firstRow + token) * shape.queryHeads()
        + kvHead(pass) * shape.queriesPerKvHead()
        + queryHead(pass);
  }

  boolean observesAttention() {
    return cache.observer().attentionHorizon() > 0;
  }

  void attend(HeadPasses worker, int layer, int window, float[] queries, int pass, int split) {
    worker.begin(heads, tokens, headCount(pass), isStored);
    for (int head = 0; head < heads; head++) {
      for (int token = 0; token < tokens; token++) {
        worker.of(head).query(token, queries, headAt(token, pass + head) * shape.keyDim());
      }
    }
    int first = firstPage;
    int last = lastPage;
    if (splits > 1) {
      int from = (firstSplit + split) * SPLIT_PAGES;
      first = Math.max(first, from);
      last = Math.min(last, from + SPLIT_PAGES - 1);
    }
    worker.visit(cache, layer, kvHead(pass), first, last, position, position + tokens, window);
    worker.end();
  }
}
