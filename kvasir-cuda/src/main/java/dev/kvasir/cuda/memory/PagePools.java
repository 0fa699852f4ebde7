package dev.kvasir.cuda.memory;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.memory.MemoryPool;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The page pools of a device by content, created on first use. Caches of several configurations
 * share the pools of equal content. Not thread-safe; pages themselves may be allocated by any
 * thread.
 */
public final class PagePools implements AutoCloseable {
  private final CudaContext context;
  private final MemoryPool memory;
  private final int layers;
  private final int kvHeads;
  private final Map<String, PagePool> pools = new LinkedHashMap<>();

  /**
   * @param memory budget that all pools share
   */
  public PagePools(CudaContext context, MemoryPool memory, int layers, int kvHeads) {
    this.context = context;
    this.memory = memory;
    this.layers = layers;
    this.kvHeads = kvHeads;
  }

  public int layers() {
    return layers;
  }

  /**
   * Returns the pool of pages that span all layers and KV heads.
   *
   * @param headBytes bytes of a page of one KV head
   */
  public PagePool pages(String content, int headBytes) {
    return pages(content, layers, headBytes);
  }

  /** Returns the pool of pages that span some layers and all KV heads. */
  public PagePool pages(String content, int pageLayers, int headBytes) {
    return pool(content, pageLayers, (long) kvHeads * headBytes);
  }

  /** Returns the pool of extents, which belong to no layer. */
  public PagePool extents(String content, int bytes) {
    return pool(content, 1, bytes);
  }

  private PagePool pool(String content, int pageLayers, long pageBytes) {
    return pools.computeIfAbsent(
        content, any -> new PagePool(context, memory, pageLayers, pageBytes));
  }

  /** Fills all pools with random numbers, except those whose content is listed. */
  public void fillRandom(CudaStream stream, Set<String> except) {
    pools.forEach(
        (content, pool) -> {
          if (!except.contains(content)) {
            pool.fillRandom(stream);
          }
        });
  }

  @Override
  public void close() {
    List<AutoCloseable> all = new ArrayList<>(pools.values());
    Resources.closeAll(all);
  }
}
