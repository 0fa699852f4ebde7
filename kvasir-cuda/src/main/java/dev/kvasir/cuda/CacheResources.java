package dev.kvasir.cuda;

import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What the caches of one kind have in common on a device: where their pages come from, and what
 * moves them. All work goes into one stream, by whoever holds its lock; nobody who does asks for
 * memory, since others may have to give some back for it.
 *
 * @param halves where tokens begin
 * @param packed where they go to; null where nothing is packed
 * @param tables where sequences have what they need beside pages; null where they need nothing
 * @param widths pages of all widths, where they shrink; null else
 * @param wider channels of keys that pages have elsewhere; null where they have none
 * @param moves what it takes to pack, to unpack and to copy
 * @param prompts attention of many rows of a sequence; empty where rows are attended to one by one
 */
record CacheResources(
    DeviceCacheConfig cacheConfig,
    PagePool fp16Pool,
    PagePool packedPool,
    PagePool tablePool,
    BitWidthPools widthPools,
    WideChannels wideChannels,
    PageOperations operations,
    PagedAttention attention,
    Optional<PrefillAttention> prefillAttention,
    ReentrantLock lock)
    implements AutoCloseable {
  boolean quantizes() {
    return cacheConfig.format().isQuantized();
  }

  /** Whether a page of halves is taken with the one that it will be packed to. */
  boolean reservesPacked() {
    return packedPool != null;
  }

  /** Bytes of so many pages of halves, with what is set aside to pack them. */
  long bytes(int pages) {
    return pages
        * (fp16Pool.totalPageBytes() + (reservesPacked() ? packedPool.totalPageBytes() : 0));
  }

  /** Of a page of tables in all layers. */
  long tableBytes() {
    return tablePool == null ? 0 : tablePool.totalPageBytes();
  }

  /** Where a layer's pages lie. */
  LayerOffsets offsets(int layer) {
    return new LayerOffsets(
        layer,
        widthPools != null
            ? widthPools.offset(1, layer)
            : packedPool == null ? 0 : layer * packedPool.layerStride(),
        layer * fp16Pool.layerStride(),
        tablePool == null ? 0 : layer * tablePool.layerStride(),
        widthPools == null ? 0 : widthPools.offset(2, layer),
        widthPools == null ? 0 : widthPools.offset(3, layer));
  }

  /** Whether rows of prompts read packed pages as halves, which they are made before. */
  boolean dequantizesForPrefill() {
    return prefillAttention.isPresent() && prefillAttention.get().dequantizes();
  }

  /** Makes halves of the pages of one layer that are listed. */
  void dequantize(CudaStream stream, DequantizedPages listed, int layer) {
    if (widthPools == null) {
      dequantize(
          listed,
          0,
          (pages, pairs) ->
              operations.dequantizeLayer(stream, pages, pairs, listed.metadataAddress(), layer));
      return;
    }
    for (int level = 1; level < PmkvqFormat.BITS.length; level++) {
      int its = level;
      dequantize(
          listed,
          level - 1,
          (pages, pairs) -> widthPools.dequantizeLayer(stream, pages, pairs, its, layer));
    }
  }

  private interface DequantizeTask {
    void launch(int pages, long pairs);
  }

  private static void dequantize(DequantizedPages listed, int width, DequantizeTask expansion) {
    if (listed.grid(width) > 0) {
      expansion.launch(listed.grid(width), listed.pairsAddress(width));
    }
  }

  /** Does something to pages, in the order of the stream. */
  void submit(Runnable work) {
    lock.lock();
    try {
      operations.enter();
      work.run();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    Resources.closeAll(operations, attention, wideChannels);
  }
}
