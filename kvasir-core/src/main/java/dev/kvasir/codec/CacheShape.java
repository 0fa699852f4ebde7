package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;

/**
 * The dimensions that determine the size of a position. Vectors of a block and channels of a
 * layer's page are counted in ints.
 *
 * @param keyDim channels of a key and of a query
 * @param valueDim channels of a value and of an attention output
 * @param values where values come from
 * @param separateKeyDim further channels of a key that are quantized separately
 * @param windows the attention window of each layer
 * @param state recurrent state, which a sequence has in addition to its positions
 */
public record CacheShape(
    int layers,
    int kvHeads,
    int keyDim,
    int valueDim,
    ValueOrigin values,
    int separateKeyDim,
    LayerWindows windows,
    StateShape state) {
  /** Maximum KV heads of all layers: each has a key and a value for every token of a block. */
  public static final int MAX_HEADS = Integer.MAX_VALUE / (2 * Page.TOKENS);

  /** Maximum channels of all KV heads of a layer. */
  private static final int MAX_CHANNELS = Integer.MAX_VALUE / Page.TOKENS;

  public CacheShape {
    if ((long) layers * kvHeads > MAX_HEADS) {
      throw new InvalidInputException(
          "a cache of %d layers with %d KV heads each; expected at most %d heads in all"
              .formatted(layers, kvHeads, MAX_HEADS));
    }
    int widest = Math.max(keyDim, valueDim);
    if ((long) kvHeads * widest > MAX_CHANNELS) {
      throw new InvalidInputException(
          "a cache of %d KV heads with %d channels each; expected at most %d channels in all"
              .formatted(kvHeads, widest, MAX_CHANNELS));
    }
    if (values == ValueOrigin.IN_KEYS && valueDim > keyDim) {
      throw new InvalidInputException(
          "values of %d channels in keys of %d; expected at most as many"
              .formatted(valueDim, keyDim));
    }
    int known = windows.windows().size();
    if (known > 0 && known != layers) {
      throw new InvalidInputException(
          "windows of %d layers; the cache has %d".formatted(known, layers));
    }
  }

  /** A shape with full attention in every layer and no separate key channels. */
  public CacheShape(int layers, int kvHeads, int keyDim, int valueDim, ValueOrigin values) {
    this(layers, kvHeads, keyDim, valueDim, values, 0, LayerWindows.NONE, StateShape.NONE);
  }

  /** A shape with stored values. */
  public CacheShape(int layers, int kvHeads, int keyDim, int valueDim) {
    this(layers, kvHeads, keyDim, valueDim, ValueOrigin.STORED);
  }

  /** A shape whose values are as wide as its keys. */
  public CacheShape(int layers, int kvHeads, int headDim) {
    this(layers, kvHeads, headDim, headDim);
  }

  /** Returns a copy with the given attention windows. */
  public CacheShape withWindows(LayerWindows read) {
    return new CacheShape(layers, kvHeads, keyDim, valueDim, values, separateKeyDim, read, state);
  }

  /** Returns a copy with the given recurrent state. */
  public CacheShape withState(StateShape given) {
    return new CacheShape(
        layers, kvHeads, keyDim, valueDim, values, separateKeyDim, windows, given);
  }

  /** Returns a copy with full attention in every layer. */
  public CacheShape withoutWindows() {
    return withWindows(LayerWindows.NONE);
  }

  /**
   * Returns a copy with the given number of layers, all with full attention and without a recurrent
   * state.
   */
  public CacheShape withLayers(int count) {
    return new CacheShape(
        count,
        kvHeads,
        keyDim,
        valueDim,
        values,
        separateKeyDim,
        LayerWindows.NONE,
        StateShape.NONE);
  }

  /**
   * Returns the channels of a head, for code that requires keys and values of equal width.
   *
   * @throws InvalidInputException if the widths differ
   */
  public int headDim() {
    return requireEqualDims(keyDim, valueDim);
  }

  /**
   * Returns the common width of keys and values.
   *
   * @throws InvalidInputException if the widths differ
   */
  public static int requireEqualDims(int keyDim, int valueDim) {
    if (keyDim != valueDim) {
      throw new InvalidInputException(
          "keys have %d channels and values %d; this is made for heads where both have as many"
              .formatted(keyDim, valueDim));
    }
    return keyDim;
  }

  /**
   * Requires an even number of key channels.
   *
   * @param spec the spec of a cache that rotates pairs of key channels, as typed
   */
  public void requireEvenKeyDim(String spec) {
    if (keyDim % 2 != 0) {
      throw new InvalidInputException(
          "the cache '%s' rotates channels in pairs; heads have %d channels"
              .formatted(spec, keyDim));
    }
  }

  /** Returns whether values are the first channels of their keys and are not stored separately. */
  public boolean hasValuesInKeys() {
    return values == ValueOrigin.IN_KEYS;
  }

  /** Returns the channels of a value that are stored in addition to its key. */
  public int storedValueDim() {
    return hasValuesInKeys() ? 0 : valueDim;
  }

  /** Returns the numbers stored for one position: keys and values of all layers and KV heads. */
  public long valuesPerToken() {
    return layers * valuesPerLayer();
  }

  /** Returns the numbers stored for one position in a layer. */
  private long valuesPerLayer() {
    return (long) kvHeads * (keyDim + storedValueDim() + separateKeyDim);
  }

  /**
   * Returns the numbers that attention still reads at a length: in each layer those in its window.
   */
  public long valuesInWindows(int length) {
    long positions = 0;
    for (int layer = 0; layer < layers; layer++) {
      positions += Math.min(length, windows.of(layer));
    }
    return positions * valuesPerLayer();
  }

  /**
   * Returns the shape of the latents alone. The key channels that are not values become separate.
   */
  public CacheShape latentShape() {
    return new CacheShape(
        layers, kvHeads, valueDim, valueDim, values, keyDim - valueDim, windows, state);
  }
}
