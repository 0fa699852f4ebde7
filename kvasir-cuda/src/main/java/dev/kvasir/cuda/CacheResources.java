package dev.kvasir.cuda;

import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Device resources shared by all caches of one configuration: page pools and kernels. All work goes
 * into one stream, under one lock. The lock's owner must not allocate memory, since others may need
 * the lock to free some.
 *
 * @param fp16Pool pages for new tokens
 * @param packedPool pages for quantized tokens; null if nothing is quantized or pages are
 *     requantized
 * @param tablePool pages for sequence tables; null if the format has none
 * @param widthPools pages of all widths; null unless the format requantizes
 * @param wideChannels key channels stored outside pages; null if there are none
 * @param operations quantizes, dequantizes and copies pages
 * @param prefillAttention attention of many rows of a sequence; empty if rows are attended one by
 *     one
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

  /** Returns whether every fp16 page has a packed page reserved for it. */
  boolean reservesPacked() {
    return packedPool != null;
  }

  /** Returns the bytes of fp16 pages together with their reserved packed pages. */
  long bytes(int pages) {
    return pages
        * (fp16Pool.totalPageBytes() + (reservesPacked() ? packedPool.totalPageBytes() : 0));
  }

  /** Returns the bytes of a table page in all layers. */
  long tableBytes() {
    return tablePool == null ? 0 : tablePool.totalPageBytes();
  }

  /** Returns the offsets of a layer's pages. */
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

  /** Returns whether prefill reads dequantized copies of packed pages. */
  boolean dequantizesForPrefill() {
    return prefillAttention.isPresent() && prefillAttention.get().dequantizes();
  }

  /** Dequantizes the listed pages of one layer. */
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
      int current = level;
      dequantize(
          listed,
          level - 1,
          (pages, pairs) -> widthPools.dequantizeLayer(stream, pages, pairs, current, layer));
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

  /** Runs work that submits to the stream, under the lock. */
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
