package dev.kvasir.cache;

import java.util.List;

/** A full block in the course of being packed, in all groups of layers that are. */
record BlockPacking(List<Packing> groups) {
  /** Bytes that were taken from the pool beforehand. */
  long prepaid() {
    return groups.stream().mapToLong(Packing::prepaid).sum();
  }

  /** Packs all layers; answers the packed block of each group. */
  List<SealedBlock> finish() {
    groups.forEach(Packing::sealLayers);
    return groups.stream().map(Packing::finish).toList();
  }

  /** Gives all memory back, that which was taken beforehand included. */
  void drop() {
    groups.forEach(Packing::drop);
  }
}
