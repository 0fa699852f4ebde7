package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.LayerWindows;
import dev.kvasir.codec.PageCodec;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The layers of a cache grouped by the size of their heads, and by attention window, the widest
 * first. If a method's pages depend on each other, or a budget divides bytes among all layers,
 * every layer retains everything.
 */
final class LayerGroups {
  private final CacheShape shape;
  private final List<LayerGroup> groups;
  private final int[] groupOf; // by layer

  private LayerGroups(CacheShape shape, List<LayerGroup> groups) {
    this.shape = shape;
    this.groups = groups;
    this.groupOf = new int[shape.layers()];
    for (int layer = 0; layer < groupOf.length; layer++) {
      for (int group = 0; group < groups.size(); group++) {
        groupOf[layer] = groups.get(group).has(layer) ? group : groupOf[layer];
      }
    }
  }

  static LayerGroups of(CacheShape shape, CacheConfig config) {
    boolean apart = config.codec().map(PageCodec::hasIndependentLayers).orElse(true);
    boolean byWindow = apart && config.budget().isEmpty();
    return new LayerGroups(
        shape,
        shape.layersByHeads().stream()
            .flatMap(
                layers -> byWindow ? byWindow(shape, config, layers) : whole(shape, config, layers))
            .toList());
  }

  private static Stream<LayerGroup> whole(CacheShape shape, CacheConfig config, int[] layers) {
    return Stream.of(new LayerGroup(shape, config, layers, LayerWindows.UNBOUNDED));
  }

  private static Stream<LayerGroup> byWindow(CacheShape shape, CacheConfig config, int[] layers) {
    return IntStream.of(layers)
        .map(layer -> -shape.windows().of(layer))
        .sorted()
        .distinct()
        .mapToObj(negative -> group(shape, config, layers, -negative));
  }

  private static LayerGroup group(CacheShape shape, CacheConfig config, int[] layers, int window) {
    int[] chosen =
        IntStream.of(layers).filter(layer -> shape.windows().of(layer) == window).toArray();
    return new LayerGroup(shape, config, chosen, window);
  }

  CacheShape shape() {
    return shape;
  }

  int count() {
    return groups.size();
  }

  LayerGroup get(int index) {
    return groups.get(index);
  }

  List<LayerGroup> all() {
    return groups;
  }

  /** Returns the index of a layer's group. */
  int of(int layer) {
    return groupOf[layer];
  }

  /** Returns whether every layer retains everything. */
  boolean retainAll() {
    return groups.stream().noneMatch(LayerGroup::isBounded);
  }

  /** Returns whether a layer evicts tokens that have left its window. */
  boolean isBounded(int layer) {
    return groups.get(groupOf[layer]).isBounded();
  }

  boolean quantizes(int layer) {
    return groups.get(groupOf[layer]).quantizes();
  }

  /** Returns whether anything is ever quantized. */
  boolean anyQuantizes() {
    return groups.stream().anyMatch(LayerGroup::quantizes);
  }
}
