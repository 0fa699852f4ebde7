package dev.kvasir.codec;

import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The dimensions that determine the size of a position. Vectors of a block and channels of a
 * layer's page are counted in ints.
 *
 * <p>If layers differ in their heads, {@link #heads} has the sizes of each, and the accessors of a
 * common size fail. Methods never see such a shape: they are given layers that are alike.
 *
 * @param kvHeads KV heads of a layer; the most if layers differ
 * @param keyDim channels of a key and of a query; the most if layers differ
 * @param valueDim channels of a value and of an attention output; the most if layers differ
 * @param values where values come from
 * @param separateKeyDim further channels of a key that are quantized separately
 * @param windows the attention window of each layer
 * @param state recurrent state, which a sequence has in addition to its positions
 * @param heads by layer; empty if layers are alike
 */
public record CacheShape(
    int layers,
    int kvHeads,
    int keyDim,
    int valueDim,
    ValueOrigin values,
    int separateKeyDim,
    LayerWindows windows,
    StateShape state,
    List<HeadShape> heads) {
  /** Maximum KV heads of all layers: each has a key and a value for every token of a block. */
  public static final int MAX_HEADS = Integer.MAX_VALUE / (2 * Page.TOKENS);

  /** Maximum channels of all KV heads of a layer. */
  private static final int MAX_CHANNELS = Integer.MAX_VALUE / Page.TOKENS;

  public CacheShape {
    heads = List.copyOf(heads);
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
    if (!heads.isEmpty() && heads.size() != layers) {
      throw new InvalidInputException(
          "heads of %d layers; the cache has %d".formatted(heads.size(), layers));
    }
  }

  /** A shape with full attention in every layer and no separate key channels. */
  public CacheShape(int layers, int kvHeads, int keyDim, int valueDim, ValueOrigin values) {
    this(
        layers,
        kvHeads,
        keyDim,
        valueDim,
        values,
        0,
        LayerWindows.NONE,
        StateShape.NONE,
        List.of());
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
    return new CacheShape(
        layers, kvHeads, keyDim, valueDim, values, separateKeyDim, read, state, heads);
  }

  /** Returns a copy with the given recurrent state. */
  public CacheShape withState(StateShape given) {
    return new CacheShape(
        layers, kvHeads, keyDim, valueDim, values, separateKeyDim, windows, given, heads);
  }

  /** Returns a copy with the given heads in each layer. */
  public CacheShape withHeads(List<HeadShape> each) {
    boolean areAlike = each.stream().distinct().count() <= 1;
    return new CacheShape(
        layers,
        each.stream().mapToInt(HeadShape::kvHeads).max().orElse(kvHeads),
        each.stream().mapToInt(HeadShape::keyDim).max().orElse(keyDim),
        each.stream().mapToInt(HeadShape::valueDim).max().orElse(valueDim),
        values,
        separateKeyDim,
        windows,
        state,
        areAlike ? List.of() : each);
  }

  /** Returns a copy with full attention in every layer. */
  public CacheShape withoutWindows() {
    return withWindows(LayerWindows.NONE);
  }

  /** Returns the shape of some layers, which have heads of one size, without a recurrent state. */
  public CacheShape ofLayers(int... chosen) {
    List<Integer> read =
        windows.windows().isEmpty()
            ? List.of()
            : Arrays.stream(chosen).mapToObj(windows::of).toList();
    HeadShape first = headsOf(chosen[0]);
    return new CacheShape(
        chosen.length,
        first.kvHeads(),
        first.keyDim(),
        first.valueDim(),
        values,
        separateKeyDim,
        new LayerWindows(read),
        StateShape.NONE,
        List.of());
  }

  /** Returns the layers with heads of each size, in the order of their first layers. */
  public List<int[]> layersByHeads() {
    Map<HeadShape, List<Integer>> found = new LinkedHashMap<>();
    IntStream.range(0, layers)
        .forEach(layer -> found.computeIfAbsent(headsOf(layer), _ -> new ArrayList<>()).add(layer));
    return found.values().stream()
        .map(part -> part.stream().mapToInt(Integer::intValue).toArray())
        .toList();
  }

  /** Returns whether layers differ in their heads. */
  public boolean hasMixedHeads() {
    return !heads.isEmpty();
  }

  /** Returns the KV heads of a layer. */
  public HeadShape headsOf(int layer) {
    return heads.isEmpty() ? new HeadShape(kvHeads, keyDim, valueDim) : heads.get(layer);
  }

  /**
   * Returns the KV heads of every layer.
   *
   * @throws InvalidInputException if layers differ in their heads
   */
  @Override
  public int kvHeads() {
    requireAlikeHeads();
    return kvHeads;
  }

  /**
   * Returns the channels of a key in every layer.
   *
   * @throws InvalidInputException if layers differ in their heads
   */
  @Override
  public int keyDim() {
    requireAlikeHeads();
    return keyDim;
  }

  /**
   * Returns the channels of a value in every layer.
   *
   * @throws InvalidInputException if layers differ in their heads
   */
  @Override
  public int valueDim() {
    requireAlikeHeads();
    return valueDim;
  }

  private void requireAlikeHeads() {
    if (hasMixedHeads()) {
      throw new InvalidInputException(
          "layers have heads of different sizes; this is made for layers that are alike");
    }
  }

  /**
   * Returns the channels of a head, for code that requires keys and values of equal width.
   *
   * @throws InvalidInputException if the widths differ
   */
  public int headDim() {
    return requireEqualDims(keyDim(), valueDim());
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
    return hasValuesInKeys() ? 0 : valueDim();
  }

  /** Returns the numbers stored for one position: keys and values of all layers and KV heads. */
  public long valuesPerToken() {
    long sum = 0;
    for (int layer = 0; layer < layers; layer++) {
      sum += valuesPerToken(layer);
    }
    return sum;
  }

  /** Returns the numbers stored for one position in a layer. */
  private long valuesPerToken(int layer) {
    HeadShape each = headsOf(layer);
    int ofValue = hasValuesInKeys() ? 0 : each.valueDim();
    return (long) each.kvHeads() * (each.keyDim() + ofValue + separateKeyDim);
  }

  /**
   * Returns the numbers that attention still reads at a length: in each layer those in its window.
   */
  public long valuesInWindows(int length) {
    long sum = 0;
    for (int layer = 0; layer < layers; layer++) {
      sum += Math.min(length, windows.of(layer)) * valuesPerToken(layer);
    }
    return sum;
  }

  /**
   * Returns the shape of the latents alone. The key channels that are not values become separate.
   */
  public CacheShape latentShape() {
    return new CacheShape(
        layers, kvHeads, valueDim, valueDim, values, keyDim - valueDim, windows, state, List.of());
  }
}
