package dev.kvasir.cache;

import dev.kvasir.codec.CacheConfig;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.PageCodec;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The layers of a cache by how far back they are read, those that read furthest first. Where a
 * method's pages belong together, or a budget divides bytes among all layers, every layer holds
 * everything.
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

  static LayerGroups of(CacheShape shape, CacheConfig settings) {
    boolean apart = settings.codec().map(PageCodec::hasIndependentLayers).orElse(true);
    return new LayerGroups(
        shape,
        apart && settings.budget().isEmpty()
            ? byWindow(shape, settings)
            : List.of(LayerGroup.whole(shape, settings)));
  }

  private static List<LayerGroup> byWindow(CacheShape shape, CacheConfig settings) {
    return IntStream.range(0, shape.layers())
        .map(layer -> -shape.windows().of(layer))
        .sorted()
        .distinct()
        .mapToObj(negative -> group(shape, settings, -negative))
        .toList();
  }

  private static LayerGroup group(CacheShape shape, CacheConfig settings, int window) {
    int[] layers =
        IntStream.range(0, shape.layers())
            .filter(layer -> shape.windows().of(layer) == window)
            .toArray();
    return new LayerGroup(shape, settings, layers, window);
  }

  /** Of all layers. */
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

  /** The index of the group that a layer is of. */
  int of(int layer) {
    return groupOf[layer];
  }

  /** Whether every layer holds everything. */
  boolean retainAll() {
    return groups.stream().noneMatch(LayerGroup::isBounded);
  }

  boolean quantizes(int layer) {
    return groups.get(groupOf[layer]).quantizes();
  }

  /** Whether anything is ever packed. */
  boolean anyQuantizes() {
    return groups.stream().anyMatch(LayerGroup::quantizes);
  }
}
