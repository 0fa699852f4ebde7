package dev.kvasir.cache;

import dev.kvasir.codec.CacheSettings;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageCodec;
import dev.kvasir.codec.ShrinkingCodec;
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
  private final int[] places; // by layer, -1 where it is none of these
  private final int window;
  private final boolean packs;

  /**
   * @param window positions that a query of these layers sees, itself included
   */
  LayerGroup(CacheShape whole, CacheSettings settings, int[] layers, int window) {
    this.shape = whole.ofLayers(layers.length);
    this.layers = layers;
    this.window = window;
    this.packs = settings.codec().map(codec -> packs(settings, codec, window)).orElse(false);
    this.places = new int[whole.layers()];
    Arrays.fill(places, -1);
    for (int i = 0; i < layers.length; i++) {
      places[layers[i]] = i;
    }
  }

  /** All layers, which hold everything. */
  static LayerGroup whole(CacheShape shape, CacheSettings settings) {
    int[] layers = IntStream.range(0, shape.layers()).toArray();
    return new LayerGroup(shape, settings, layers, LayerWindows.UNBOUNDED);
  }

  /** Pages are made to be read: a block is packed when it has left what is dense. */
  private static boolean packs(CacheSettings settings, PageCodec codec, int window) {
    return window >= settings.window() + (long) codec.blocksTogether() * Page.TOKENS;
  }

  /** Of these layers alone. */
  CacheShape shape() {
    return shape;
  }

  int count() {
    return layers.length;
  }

  int layer(int place) {
    return layers[place];
  }

  /** Where one of these layers is among them. */
  int place(int layer) {
    return places[layer];
  }

  boolean has(int layer) {
    return places[layer] >= 0;
  }

  boolean isBounded() {
    return window != LayerWindows.UNBOUNDED;
  }

  /** Whether blocks of these layers are ever packed. */
  boolean packs() {
    return packs;
  }

  /** Blocks from the first on that are let go between steps, once there are so many tokens. */
  int gone(BlockPlaces blocks, int length) {
    return isBounded() && length > reach() ? blocks.blockOf((int) (length - reach())) : 0;
  }

  /** Tokens behind the last one that are held at least, where there are as many. */
  private long reach() {
    return window - 1L + SLACK;
  }

  /** The least length, beside 0, at which a group has all that the next token reads. */
  long leastLength(int firstHeld) {
    return firstHeld == 0 ? 0 : firstHeld + window - 1L;
  }

  /**
   * Blocks of 128 that are held at the most while a step runs.
   *
   * @param stepTokens that come between two times of letting go, at the most
   */
  long mostBlocks(int stepTokens) {
    return isBounded() ? Math.ceilDiv(reach() + stepTokens, Page.TOKENS) + 1 : Long.MAX_VALUE;
  }

  /** Bytes of a block's pages of these layers, at the most. */
  long pageBytes(PageCodec codec) {
    return IntStream.of(layers).mapToLong(codec::pageBytes).sum();
  }

  /** The same as narrow as pages can be. */
  long leastPageBytes(PageCodec codec) {
    return codec instanceof ShrinkingCodec shrinking
        ? IntStream.of(layers).mapToLong(i -> shrinking.pageBytes(i, shrinking.floor(i))).sum()
        : pageBytes(codec);
  }

  /** Those of a block's bytes that are codes, at the most. */
  long codeBytes(PageCodec codec) {
    return IntStream.of(layers).mapToLong(codec::codeBytes).sum();
  }
}
