package dev.kvasir.cache;

import java.util.List;

/** A full block in the course of being packed, in all groups of layers that are. */
final class BlockPacking {
  private final List<Packing> groups;
  private int next; // the first group that has not all layers

  BlockPacking(List<Packing> groups) {
    this.groups = groups;
  }

  /** Bytes that were taken from the pool beforehand. */
  long prepaid() {
    return groups.stream().mapToLong(Packing::prepaid).sum();
  }

  boolean hasAllLayers() {
    while (next < groups.size() && groups.get(next).hasAllLayers()) {
      next++;
    }
    return next == groups.size();
  }

  /** Packs the next layer. */
  void sealLayer() {
    if (!hasAllLayers()) {
      groups.get(next).sealLayer();
    }
  }

  /** Packs what is left; answers the packed block of each group. */
  List<SealedBlock> finish() {
    while (!hasAllLayers()) {
      sealLayer();
    }
    return groups.stream().map(Packing::finish).toList();
  }

  /** Gives all memory back, that which was taken beforehand included. */
  void drop() {
    groups.forEach(Packing::drop);
  }

  long codeBytes() {
    return groups.stream().mapToLong(Packing::codeBytes).sum();
  }

  long scaleBytes() {
    return groups.stream().mapToLong(Packing::scaleBytes).sum();
  }
}
