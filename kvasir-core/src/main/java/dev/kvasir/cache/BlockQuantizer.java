package dev.kvasir.cache;

import java.util.List;

/** A full block in the course of being packed, in all groups of layers that are. */
record BlockQuantizer(List<GroupQuantizer> groups) {
  /** Bytes that were taken from the pool beforehand. */
  long reserved() {
    return groups.stream().mapToLong(GroupQuantizer::reserved).sum();
  }

  /** Packs all layers; answers the packed block of each group. */
  List<QuantizedBlock> finish() {
    groups.forEach(GroupQuantizer::quantizeLayers);
    return groups.stream().map(GroupQuantizer::finish).toList();
  }

  /** Gives all memory back, that which was taken beforehand included. */
  void abort() {
    groups.forEach(GroupQuantizer::abort);
  }
}
