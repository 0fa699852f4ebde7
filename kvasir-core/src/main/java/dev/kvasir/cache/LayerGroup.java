package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.RequantizingCodec;
import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * Layers with the same attention window and heads of the same size, which retain the same tokens:
 * all tokens, or those in the window of the next token and of every token that a short rewind may
 * return to.
 *
 * <pre>
 * position           length - window + 1 - SLACK            length
 *   | evicted ... evicted | retained, in whole blocks ....... |
 * </pre>
 */
final class LayerGroup {
  /** Tokens that any sequence may be cut by without a new prefill. */
  static final int SLACK = Page.TOKENS;

  private final CacheShape shape;
  private final int[] layers;
  private final int[] indices; // by layer, -1 for layers of other groups
  private final int window;
  private final boolean quantizes;

  /**
   * @param window positions that a query of these layers sees, itself included
   */
  LayerGroup(CacheShape whole, CacheConfig config, int[] layers, int window) {
    this.shape = whole.ofLayers(layers).withoutWindows();
    this.layers = layers;
    this.window = window;
    this.quantizes = config.codec().map(codec -> quantizes(config, codec, window)).orElse(false);
    this.indices = new int[whole.layers()];
    Arrays.fill(indices, -1);
    for (int i = 0; i < layers.length; i++) {
      indices[layers[i]] = i;
    }
  }

  /**
   * Returns whether quantized pages would ever be read: the window must reach behind the dense
   * blocks.
   */
  private static boolean quantizes(CacheConfig config, PageCodec codec, int window) {
    return window >= config.window() + (long) codec.blocksPerGroup() * Page.TOKENS;
  }

  /** Returns the shape of these layers alone. */
  CacheShape shape() {
    return shape;
  }

  int count() {
    return layers.length;
  }

  int layer(int index) {
    return layers[index];
  }

  /** Returns the index of a layer within the group. */
  int indexOf(int layer) {
    return indices[layer];
  }

  boolean has(int layer) {
    return indices[layer] >= 0;
  }

  boolean isBounded() {
    return window != LayerWindows.UNBOUNDED;
  }

  /** Returns whether blocks of these layers are ever quantized. */
  boolean quantizes() {
    return quantizes;
  }

  /** Returns how many of the first blocks are evicted between steps at a length. */
  int evictedBlocks(BlockBoundaries boundaries, int length) {
    return isBounded() && length > reach() ? boundaries.blockOf((int) (length - reach())) : 0;
  }

  /** Returns how many of the last tokens are always retained. */
  private long reach() {
    return window - 1L + SLACK;
  }

  /**
   * Returns the minimum length, apart from 0, at which the group has all that the next token reads.
   */
  long minLength(int firstRetained) {
    return firstRetained == 0 ? 0 : firstRetained + window - 1L;
  }

  /**
   * Returns the maximum number of 128-token blocks retained while a step runs.
   *
   * @param stepTokens maximum tokens between two evictions
   */
  long maxBlocks(int stepTokens) {
    return isBounded() ? Math.ceilDiv(reach() + stepTokens, Page.TOKENS) + 1 : Long.MAX_VALUE;
  }

  /** Returns the maximum bytes of a block's pages of these layers. */
  long pageBytes(PageCodec codec) {
    return IntStream.of(layers).mapToLong(codec::pageBytes).sum();
  }

  /** Returns the same for pages of minimum width. */
  long minPageBytes(PageCodec codec) {
    return codec instanceof RequantizingCodec requantizing
        ? IntStream.of(layers)
            .mapToLong(i -> requantizing.pageBytes(i, requantizing.floorLevel(i)))
            .sum()
        : pageBytes(codec);
  }

  /** Returns the maximum bytes of a block's codes. */
  long codeBytes(PageCodec codec) {
    return IntStream.of(layers).mapToLong(codec::codeBytes).sum();
  }
}
