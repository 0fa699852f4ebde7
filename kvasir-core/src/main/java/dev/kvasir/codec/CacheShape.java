package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;

/**
 * The sizes that decide what a position costs. Blocks count their vectors, and a layer's channels
 * of a page, in ints.
 *
 * @param keyDim channels of a key, and of a query
 * @param valueDim channels of a value, and of what attention makes of values
 * @param values where values come from
 * @param apart channels of a key that lie beside these and are packed apart from them
 * @param windows how far back each layer is read
 */
public record CacheShape(
    int layers,
    int kvHeads,
    int keyDim,
    int valueDim,
    ValueOrigin values,
    int separateKeyDim,
    LayerWindows windows) {
  /** KV heads of all layers at the most: each has a key and a value for every token of a block. */
  public static final int MAX_HEADS = Integer.MAX_VALUE / (2 * Page.TOKENS);

  /** Channels of all KV heads of a layer at the most. */
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

  /** Layers that see everything before them, and keys of which nothing lies apart. */
  public CacheShape(int layers, int kvHeads, int keyDim, int valueDim, ValueOrigin values) {
    this(layers, kvHeads, keyDim, valueDim, values, 0, LayerWindows.NONE);
  }

  /** Values that are stored. */
  public CacheShape(int layers, int kvHeads, int keyDim, int valueDim) {
    this(layers, kvHeads, keyDim, valueDim, ValueOrigin.STORED);
  }

  /** Values as wide as keys. */
  public CacheShape(int layers, int kvHeads, int headDim) {
    this(layers, kvHeads, headDim, headDim);
  }

  /** The same, whose layers are read so far back. */
  public CacheShape withWindows(LayerWindows read) {
    return new CacheShape(layers, kvHeads, keyDim, valueDim, values, separateKeyDim, read);
  }

  /** The same, whose layers are read from the first token on. */
  public CacheShape withoutWindows() {
    return withWindows(LayerWindows.NONE);
  }

  /** The same for so many of its layers, which see everything before them. */
  public CacheShape withLayers(int count) {
    return new CacheShape(
        count, kvHeads, keyDim, valueDim, values, separateKeyDim, LayerWindows.NONE);
  }

  /**
   * Channels of a key as of a value, for what is made for heads of one width.
   *
   * @throws InvalidInputException where they differ
   */
  public int headDim() {
    return requireEqualDims(keyDim, valueDim);
  }

  /** The width that keys and values have in common; refuses those that have none. */
  public static int requireEqualDims(int keyDim, int valueDim) {
    if (keyDim != valueDim) {
      throw new InvalidInputException(
          "keys have %d channels and values %d; this is made for heads where both have as many"
              .formatted(keyDim, valueDim));
    }
    return keyDim;
  }

  /**
   * @param spec of a cache that turns channels of keys as the model does, as typed
   */
  public void requireEvenKeyDim(String spec) {
    if (keyDim % 2 != 0) {
      throw new InvalidInputException(
          "the cache '%s' turns channels in pairs; heads have %d channels".formatted(spec, keyDim));
    }
  }

  /** Whether values are the first channels of their keys, and nothing is stored of them. */
  public boolean hasValuesInKeys() {
    return values == ValueOrigin.IN_KEYS;
  }

  /** Channels of a value that are stored beside its key. */
  public int storedValueDim() {
    return hasValuesInKeys() ? 0 : valueDim;
  }

  /** Values of one position: what is stored of keys and values of every layer and KV head. */
  public long valuesPerToken() {
    return layers * valuesPerLayer();
  }

  /** Values of one position in a layer. */
  private long valuesPerLayer() {
    return (long) kvHeads * (keyDim + storedValueDim() + separateKeyDim);
  }

  /** Values of so many positions that are still read: of each layer those in its window. */
  public long valuesInWindows(int length) {
    long positions = 0;
    for (int layer = 0; layer < layers; layer++) {
      positions += Math.min(length, windows.of(layer));
    }
    return positions * valuesPerLayer();
  }

  /** The same without the channels of keys that are no values, which lie apart then. */
  public CacheShape latentShape() {
    return new CacheShape(layers, kvHeads, valueDim, valueDim, values, keyDim - valueDim, windows);
  }
}
