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
 * Layers that look equally far back, and so hold the same tokens: all of them, or those in the
 * window of the next token and of every token that a short rewind may come back to.
 *
 * <pre>
 * position           length - window + 1 - SLACK            length
 *   | let go ... let go | held, in whole blocks ............. |
 * </pre>
 */
final class LayerGroup {
  /** Tokens that a sequence may be cut by, whatever it was, without being read again. */
  static final int SLACK = Page.TOKENS;

  private final CacheShape shape;
  private final int[] layers;
  private final int[] indices; // by layer, -1 where it is none of these
  private final int window;
  private final boolean quantizes;

  /**
   * @param window positions that a query of these layers sees, itself included
   */
  LayerGroup(CacheShape whole, CacheConfig settings, int[] layers, int window) {
    this.shape = whole.withLayers(layers.length);
    this.layers = layers;
    this.window = window;
    this.quantizes =
        settings.codec().map(codec -> quantizes(settings, codec, window)).orElse(false);
    this.indices = new int[whole.layers()];
    Arrays.fill(indices, -1);
    for (int i = 0; i < layers.length; i++) {
      indices[layers[i]] = i;
    }
  }

  /** All layers, which hold everything. */
  static LayerGroup whole(CacheShape shape, CacheConfig settings) {
    int[] layers = IntStream.range(0, shape.layers()).toArray();
    return new LayerGroup(shape, settings, layers, LayerWindows.UNBOUNDED);
  }

  /** Pages are made to be read: a block is packed when it has left what is dense. */
  private static boolean quantizes(CacheConfig settings, PageCodec codec, int window) {
    return window >= settings.window() + (long) codec.blocksPerGroup() * Page.TOKENS;
  }

  /** Of these layers alone. */
  CacheShape shape() {
    return shape;
  }

  int count() {
    return layers.length;
  }

  int layer(int index) {
    return layers[index];
  }

  /** Where one of these layers is among them. */
  int indexOf(int layer) {
    return indices[layer];
  }

  boolean has(int layer) {
    return indices[layer] >= 0;
  }

  boolean isBounded() {
    return window != LayerWindows.UNBOUNDED;
  }

  /** Whether blocks of these layers are ever packed. */
  boolean quantizes() {
    return quantizes;
  }

  /** Blocks from the first on that are let go between steps, once there are so many tokens. */
  int evictedBlocks(BlockBoundaries boundaries, int length) {
    return isBounded() && length > reach() ? boundaries.blockOf((int) (length - reach())) : 0;
  }

  /** Tokens behind the last one that are held at least, where there are as many. */
  private long reach() {
    return window - 1L + SLACK;
  }

  /** The least length, beside 0, at which a group has all that the next token reads. */
  long minLength(int firstRetained) {
    return firstRetained == 0 ? 0 : firstRetained + window - 1L;
  }

  /**
   * Blocks of 128 that are held at the most while a step runs.
   *
   * @param stepTokens that come between two times of letting go, at the most
   */
  long maxBlocks(int stepTokens) {
    return isBounded() ? Math.ceilDiv(reach() + stepTokens, Page.TOKENS) + 1 : Long.MAX_VALUE;
  }

  /** Bytes of a block's pages of these layers, at the most. */
  long pageBytes(PageCodec codec) {
    return IntStream.of(layers).mapToLong(codec::pageBytes).sum();
  }

  /** The same as narrow as pages can be. */
  long minPageBytes(PageCodec codec) {
    return codec instanceof RequantizingCodec requantizing
        ? IntStream.of(layers)
            .mapToLong(i -> requantizing.pageBytes(i, requantizing.floorLevel(i)))
            .sum()
        : pageBytes(codec);
  }

  /** Those of a block's bytes that are codes, at the most. */
  long codeBytes(PageCodec codec) {
    return IntStream.of(layers).mapToLong(codec::codeBytes).sum();
  }
}
