package dev.kvasir.cuda.engine;

import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.memory.DividedTransfer;
import java.util.List;

/**
 * The pages of a sequence by card, to be stored or restored as bytes of all layers. A sequence has
 * the same bytes on any number of cards.
 *
 * @param layersTogether whether the bytes of a block have all layers of a page together
 */
record StoredParts(List<Part> parts, boolean layersTogether) {
  /** The pages of the layers that a card has. */
  record Part(CacheResources resources, SequencePages pages) {}

  /**
   * @param cacheConfig of all layers
   */
  static StoredParts of(DeviceCacheConfig cacheConfig, List<Part> parts) {
    return new StoredParts(List.copyOf(parts), cacheConfig.format().storesLayersTogether());
  }

  /** Returns the number of packed pages, which is that of every part. */
  int packedPages() {
    return parts.getFirst().pages().packedPages();
  }

  List<long[]> block(int index) {
    return parts.stream()
        .map(part -> DeviceSnapshot.blockPages(part.resources(), part.pages(), index))
        .toList();
  }

  List<long[]> residual(SnapshotLayout layout) {
    return parts.stream()
        .map(part -> DeviceSnapshot.residualPages(part.resources(), part.pages(), layout))
        .toList();
  }

  /** Returns what copies the pages of blocks. */
  DividedTransfer blockTransfer() {
    return new DividedTransfer(
        parts.stream()
            .map(Part::resources)
            .map(own -> own.transfer(DeviceSnapshot.blockPool(own)))
            .toList(),
        layersTogether);
  }

  /** Returns what copies the pages of sinks and window. */
  DividedTransfer residualTransfer() {
    return new DividedTransfer(
        parts.stream().map(Part::resources).map(own -> own.transfer(own.fp16Pool())).toList(),
        false);
  }
}
