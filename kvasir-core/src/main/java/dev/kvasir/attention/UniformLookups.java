package dev.kvasir.attention;

import dev.kvasir.cache.KvCache;
import dev.kvasir.cache.Lookups;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.page.CodeBlock;
import dev.kvasir.page.HeadShape;
import dev.kvasir.page.Page;
import dev.kvasir.page.UniformPage;
import java.util.Arrays;

/** Attention on the packed bits of a page, for a few query rows that share its KV head. */
final class UniformLookups implements BlockReader {
  private static final int TOKENS = Page.TOKENS;

  private final int headDim;
  private final BlockSums sums;
  private final float[] ordered; // (rows, headDim)
  private final byte[] channels; // (headDim), as they are ordered

  UniformLookups(Kernels kernels, int headDim) {
    this.headDim = headDim;
    this.sums = new BlockSums(kernels, PageWalk.FEW_ROWS);
    this.ordered = new float[PageWalk.FEW_ROWS * headDim];
    this.channels = new byte[headDim];
  }

  @Override
  public void begin() {
    sums.begin();
  }

  @Override
  public boolean readsWholeBlocks() {
    return true;
  }

  @Override
  public void score(
      KvCache cache,
      int layer,
      int kvHead,
      int block,
      int tokens,
      float[] queries,
      int rows,
      float[] scores) {
    boolean exact = cache.lookups() == Lookups.EXACT;
    score((UniformPage) cache.page(layer, block), kvHead, exact, queries, rows, scores);
  }

  /** Scores of all tokens of a page. */
  void score(
      UniformPage page, int kvHead, boolean exact, float[] queries, int rows, float[] scores) {
    HeadShape shape = page.shape(kvHead);
    if (shape.ordered()) {
      sums.begin(); // each page has an order of its own
    }
    float[] x = shape.ordered() ? order(page, kvHead, queries, rows) : queries;
    Arrays.fill(scores, 0, rows * TOKENS, 0);
    long offset = page.keysOffset(kvHead);
    int place = 0;
    for (int i = 0; i < shape.keys().size(); i++) {
      CodeBlock codes = shape.keys().get(i);
      sums.add(codes, page.bytes(), offset, x, place, headDim, rows, exact, scores, TOKENS);
      place += codes.entries();
      offset += codes.bytes();
    }
  }

  private float[] order(UniformPage page, int kvHead, float[] queries, int rows) {
    page.copyOrder(kvHead, channels);
    for (int row = 0; row < rows; row++) {
      int at = row * headDim;
      for (int place = 0; place < headDim; place++) {
        ordered[at + place] = queries[at + (channels[place] & 0xFF)];
      }
    }
    return ordered;
  }

  @Override
  public void mix(
      KvCache cache,
      int layer,
      int kvHead,
      int block,
      int tokens,
      float[] probabilities,
      int rows,
      float[] out) {
    boolean exact = cache.lookups() == Lookups.EXACT;
    mix((UniformPage) cache.page(layer, block), kvHead, exact, probabilities, rows, out);
  }

  /** Adds the weighted values of all tokens of a page. */
  void mix(
      UniformPage page, int kvHead, boolean exact, float[] probabilities, int rows, float[] out) {
    CodeBlock codes = page.shape(kvHead).values();
    long offset = page.valuesOffset(kvHead);
    sums.add(codes, page.bytes(), offset, probabilities, 0, TOKENS, rows, exact, out, headDim);
  }
}
