package dev.kvasir.cache;

import java.util.List;

/** Quantizes a full block in all layer groups that are quantized. */
record BlockQuantizer(List<GroupQuantizer> groups) {
  /** Returns the bytes that were acquired from the pool in advance. */
  long reserved() {
    return groups.stream().mapToLong(GroupQuantizer::reserved).sum();
  }

  /** Quantizes all layers and returns the quantized block of each group. */
  List<QuantizedBlock> finish() {
    groups.forEach(GroupQuantizer::quantizeLayers);
    return groups.stream().map(GroupQuantizer::finish).toList();
  }

  /** Releases all memory, the reserved bytes included. */
  void abort() {
    groups.forEach(GroupQuantizer::abort);
  }
}
