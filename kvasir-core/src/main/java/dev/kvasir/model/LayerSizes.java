package dev.kvasir.model;

import dev.kvasir.codec.HeadShape;
import dev.kvasir.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToIntFunction;

/**
 * Sizes that differ by layer.
 *
 * @param heads KV heads of each layer; of a layer without own keys and values, those that it reads
 * @param feedForward width of each layer's feed-forward part
 * @param cacheLayers for each layer, the index of the layer whose keys and values it reads: its own
 *     in all layers but the last ones
 * @param inputChannels channels of a layer's own embedding of a token; 0 for none
 */
public record LayerSizes(
    List<HeadShape> heads,
    List<Integer> feedForward,
    List<Integer> cacheLayers,
    int inputChannels) {
  public LayerSizes {
    heads = List.copyOf(heads);
    feedForward = List.copyOf(feedForward);
    cacheLayers = List.copyOf(cacheLayers);
  }

  /**
   * Returns the layer whose keys and values each layer reads. A layer without its own reads those
   * of the last one with its own that sees as far back.
   *
   * @param own number of leading layers with keys and values of their own
   */
  static List<Integer> cacheLayers(String fileName, int layers, int own, WindowPattern windows) {
    List<Integer> sources = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      int source = Math.min(layer, own - 1);
      while (source >= 0 && layer >= own && windows.of(source) != windows.of(layer)) {
        source--;
      }
      if (source < 0) {
        throw new InvalidInputException(
            "%s: layer %d has no keys and values, and none of the %d layers with their own sees as far back"
                .formatted(fileName, layer, Math.max(0, own)));
      }
      sources.add(source);
    }
    return sources;
  }

  boolean hasMixedHeads() {
    return heads.stream().distinct().count() > 1;
  }

  boolean sharesCache(int layer) {
    return cacheLayers.get(layer) != layer;
  }

  int max(ToIntFunction<HeadShape> size) {
    return heads.stream().mapToInt(size).max().orElse(0);
  }

  int maxFeedForward() {
    return feedForward.stream().mapToInt(Integer::intValue).max().orElse(0);
  }

  /** Checks the sizes; errors name the file they came from. */
  void check(String fileName, ModelConfig config) {
    for (int layer = 0; layer < heads.size(); layer++) {
      HeadShape each = heads.get(layer);
      if (each.kvHeads() < 1 || config.queryHeads() % each.kvHeads() != 0) {
        throw new InvalidInputException(
            "%s: layer %d has %d KV heads; expected a divisor of its %d query heads"
                .formatted(fileName, layer, each.kvHeads(), config.queryHeads()));
      }
      if (each.keyDim() < 1 || each.valueDim() < 1) {
        throw new InvalidInputException(
            "%s: layer %d has heads of %d and %d channels; expected at least 1"
                .formatted(fileName, layer, each.keyDim(), each.valueDim()));
      }
      if (feedForward.get(layer) < 1) {
        throw new InvalidInputException(
            "%s: the feed-forward size of layer %d is %d; expected at least 1"
                .formatted(fileName, layer, feedForward.get(layer)));
      }
      int kind = config.ropes().of(layer);
      if (kind != RopePattern.NONE
          && config.ropes().kinds().get(kind).dimensions() > each.keyDim()) {
        throw new InvalidInputException(
            "%s: rotates %d channels of a head in layer %d; it has %d"
                .formatted(
                    fileName, config.ropes().kinds().get(kind).dimensions(), layer, each.keyDim()));
      }
    }
    if (inputChannels < 0) {
      throw new InvalidInputException(
          "%s: the embedding of a layer has %d channels; expected at least 0"
              .formatted(fileName, inputChannels));
    }
  }
}
