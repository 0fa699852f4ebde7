package dev.kvasir.codec.mixed;

import java.util.List;

/** The division of a cache's layers into parts, each with heads of one size. */
final class LayerParts {
  private final List<int[]> layers; // by part
  private final int[] partOf; // by layer
  private final int[] indexOf; // by layer, within its part

  /**
   * @param layers those of each part, ascending; each layer is in one of them
   */
  LayerParts(List<int[]> layers) {
    this.layers = layers;
    int count = layers.stream().mapToInt(part -> part.length).sum();
    this.partOf = new int[count];
    this.indexOf = new int[count];
    for (int part = 0; part < layers.size(); part++) {
      for (int i = 0; i < layers.get(part).length; i++) {
        partOf[layers.get(part)[i]] = part;
        indexOf[layers.get(part)[i]] = i;
      }
    }
  }

  int count() {
    return layers.size();
  }

  int partOf(int layer) {
    return partOf[layer];
  }

  /** Returns the index of a layer within its part. */
  int indexOf(int layer) {
    return indexOf[layer];
  }

  /** Returns a layer of a part. */
  int layer(int part, int index) {
    return layers.get(part)[index];
  }
}
