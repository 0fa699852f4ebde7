package dev.kvasir.cuda.formats;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.memory.DequantizedPages;
import dev.kvasir.cuda.memory.LayerOffsets;
import dev.kvasir.cuda.memory.PagePool;
import dev.kvasir.cuda.memory.PagePools;
import dev.kvasir.cuda.memory.PageTransfer;
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
 * @param levels pages of all widths; null unless the format requantizes
 * @param tableFactory creates the tables of sequences
 * @param operations quantizes, dequantizes and copies pages
 * @param prefillAttention attention of many rows of a sequence; empty if rows are attended one by
 *     one
 */
public record CacheResources(
    DeviceCacheConfig cacheConfig,
    PagePool fp16Pool,
    PagePool packedPool,
    PagePool tablePool,
    PageLevels levels,
    SequenceTableFactory tableFactory,
    PageOperations operations,
    PagedAttention attention,
    Optional<PrefillAttention> prefillAttention,
    ReentrantLock lock)
    implements AutoCloseable {
  /**
   * Creates the resources of a cache configuration.
   *
   * @param limits limits of attention, without sinks
   * @param maxRows maximum rows of a step
   */
  public static CacheResources open(
      DeviceCacheConfig cacheConfig,
      KernelModule module,
      CudaStream stream,
      PagePools pools,
      AttentionShape shape,
      AttentionLimits limits,
      int maxRows,
      ReentrantLock lock) {
    PageFormat format = cacheConfig.format();
    int headDim = shape.headDim();
    PagePool fp16Pool =
        pools.pages(PageFormat.FP16.kernelName(), PageFormat.FP16.pageBytes(headDim));
    PagePool packedPool =
        format.isQuantized() && !format.requantizes() ? format.packedPool(pools, headDim) : null;
    int tableBytes = format.tableBytes(headDim);
    PagePool tablePool =
        tableBytes > 0 ? pools.pages(format.kernelName() + " tables", tableBytes) : null;
    PageOperations operations =
        new PageOperations(
            module.context(),
            stream,
            format.newQuantizer(module, stream, cacheConfig, shape),
            new PageQuantizer.LayerStrides(
                pools.layers(), fp16Pool.layerStride(), stride(packedPool), stride(tablePool)),
            fp16Pool.pageBytes(),
            tablePool == null ? 0 : tablePool.pageBytes());
    AttentionLimits ownLimits = limits.withSinks(cacheConfig.sinks());
    PagedAttention attention =
        new PagedAttention(module, stream, format, shape, maxRows, ownLimits);
    return new CacheResources(
        cacheConfig,
        fp16Pool,
        packedPool,
        tablePool,
        format.newLevels(module, stream, shape, fp16Pool, pools),
        format.newTableFactory(module, shape, pools),
        operations,
        attention,
        PrefillAttention.of(module, format, shape, ownLimits),
        lock);
  }

  private static long stride(PagePool pool) {
    return pool == null ? 0 : pool.layerStride();
  }

  public boolean quantizes() {
    return cacheConfig.format().isQuantized();
  }

  /** Returns whether every fp16 page has a packed page reserved for it. */
  public boolean reservesPacked() {
    return packedPool != null;
  }

  /** Returns the bytes of fp16 pages together with their reserved packed pages. */
  public long bytes(int pages) {
    return pages
        * (fp16Pool.totalPageBytes() + (reservesPacked() ? packedPool.totalPageBytes() : 0));
  }

  /** Returns the bytes of a table page in all layers. */
  public long tableBytes() {
    return tablePool == null ? 0 : tablePool.totalPageBytes();
  }

  /** Returns the offsets of a layer's pages. */
  public LayerOffsets offsets(int layer) {
    if (levels != null) {
      return new LayerOffsets(
          layer,
          levels.offset(1, layer),
          levels.groups().place(layer) * fp16Pool.layerStride(),
          layer * stride(tablePool),
          levels.offset(2, layer),
          levels.offset(3, layer),
          levels.groups().group(layer));
    }
    return new LayerOffsets(
        layer,
        packedPool == null
            ? 0
            : cacheConfig.format().packedOffset(packedPool, attention.shape(), layer),
        layer * fp16Pool.layerStride(),
        layer * stride(tablePool),
        0,
        0,
        0);
  }

  /** Returns whether prefill reads dequantized copies of packed pages. */
  public boolean dequantizesForPrefill() {
    return prefillAttention.isPresent() && prefillAttention.get().dequantizes();
  }

  public void dequantize(CudaStream stream, DequantizedPages listed, int layer) {
    if (levels == null) {
      dequantize(
          listed,
          0,
          0,
          (pages, pairs) ->
              operations.dequantizeLayer(stream, pages, pairs, listed.metadataAddress(), layer));
      return;
    }
    for (int level = 1; level < levels.count(); level++) {
      int current = level;
      dequantize(
          listed,
          levels.groups().group(layer),
          level - 1,
          (pages, pairs) -> levels.dequantizeLayer(stream, pages, pairs, current, layer));
    }
  }

  private interface DequantizeTask {
    void launch(int pages, long pairs);
  }

  private static void dequantize(
      DequantizedPages listed, int group, int width, DequantizeTask expansion) {
    if (listed.grid(group, width) > 0) {
      expansion.launch(listed.grid(group, width), listed.pairsAddress(group, width));
    }
  }

  /** Runs work that submits to the stream, under the lock. */
  public void submit(Runnable work) {
    lock.lock();
    try {
      operations.enter();
      work.run();
    } finally {
      lock.unlock();
    }
  }

  /** Returns what copies the pages of a pool, each piece under the lock. */
  public PageTransfer transfer(PagePool pool) {
    return new PageTransfer(
        pool.layers(),
        pool.layerStride(),
        pool.pageBytes(),
        piece -> submit(() -> operations.transfer(piece)));
  }

  @Override
  public void close() {
    Resources.closeAll(operations, attention, tableFactory, levels);
  }
}
