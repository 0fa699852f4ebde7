package dev.kvasir.cuda.memory;

import dev.kvasir.cuda.driver.CudaContext;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.DeviceMemory;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.memory.MemoryPool;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * A pool of equally sized device pages. An allocated page spans all layers and is named by its
 * address in the first layer. Device memory is allocated and freed in slabs of one size, so the
 * stride between layers is constant:
 *
 * <pre>
 * slab  (layers, 64 pages, kvHeads) pages of a head
 * </pre>
 *
 * Pages are reference-counted by the sequences that hold them. Their bytes are taken from the
 * shared memory pool first and without the lock, because reclaiming memory there can release pages
 * here.
 */
public final class PagePool implements AutoCloseable {
  static final int SLAB_PAGES = 64;

  private final CudaContext context;
  private final MemoryPool bytes;
  private final int layers;
  private final long pageBytes;
  private final List<Slab> slabs = new ArrayList<>(); // by address
  private final Deque<Slab> open = new ArrayDeque<>(); // those with free pages
  private boolean closed;

  private static final class Slab {
    final DeviceMemory memory;
    final int[] refCounts = new int[SLAB_PAGES]; // by page
    final int[] free = new int[SLAB_PAGES]; // page numbers, a stack
    int freeCount = SLAB_PAGES;

    Slab(DeviceMemory memory) {
      this.memory = memory;
      for (int i = 0; i < SLAB_PAGES; i++) {
        free[i] = SLAB_PAGES - 1 - i;
      }
    }
  }

  /**
   * @param bytes budget that pages are taken from
   * @param pageBytes bytes of a page in one layer, all KV heads
   */
  PagePool(CudaContext context, MemoryPool bytes, int layers, long pageBytes) {
    this.context = context;
    this.bytes = bytes;
    this.layers = layers;
    this.pageBytes = pageBytes;
  }

  public int layers() {
    return layers;
  }

  /** Returns the byte distance between the pages of consecutive layers. */
  public long layerStride() {
    return SLAB_PAGES * pageBytes;
  }

  /** Returns the bytes of a page in one layer, all KV heads. */
  public long pageBytes() {
    return pageBytes;
  }

  public long totalPageBytes() {
    return layers * pageBytes;
  }

  /**
   * Allocates pages with a reference count of one. Nothing changes if it throws.
   *
   * @throws dev.kvasir.memory.MemoryFullException if the shared memory pool has too few bytes
   * @throws dev.kvasir.cuda.driver.DeviceException if the device has too little memory
   * @throws IllegalStateException if the pool is closed; a step allocates before it holds the lock,
   *     so the engine may be closed in between
   */
  public long[] allocate(int count) {
    bytes.acquire(count * totalPageBytes());
    try {
      return allocated(count);
    } catch (RuntimeException | Error e) {
      bytes.release(count * totalPageBytes());
      throw e;
    }
  }

  private synchronized long[] allocated(int count) {
    if (closed) {
      throw new IllegalStateException("this model is closed");
    }
    List<Slab> fresh = new ArrayList<>();
    int found = 0;
    for (Slab slab : open) {
      found += slab.freeCount;
    }
    try {
      for (; found < count; found += SLAB_PAGES) {
        context.enter();
        fresh.add(new Slab(context.allocate(SLAB_PAGES * totalPageBytes())));
      }
    } catch (RuntimeException | Error e) {
      fresh.forEach(slab -> Resources.closeAfter(e, slab.memory));
      throw e;
    }
    for (Slab slab : fresh) {
      slabs.add(indexBefore(slab.memory.address()) + 1, slab);
      open.add(slab);
    }
    long[] pages = new long[count];
    for (int i = 0; i < count; i++) {
      pages[i] = next();
    }
    return pages;
  }

  private long next() {
    Slab slab = open.peek();
    int page = slab.free[--slab.freeCount];
    if (slab.freeCount == 0) {
      open.remove();
    }
    slab.refCounts[page] = 1;
    return slab.memory.address() + page * pageBytes;
  }

  /** Adds a reference to a page. */
  public synchronized void retain(long address) {
    Slab slab = slabs.get(indexBefore(address));
    slab.refCounts[number(slab, address)]++;
  }

  /** Returns whether several sequences hold a page. Every step asks, so it allocates nothing. */
  public synchronized boolean isShared(long address) {
    Slab slab = slabs.get(indexBefore(address));
    return slab.refCounts[number(slab, address)] > 1;
  }

  /** Returns the index of the last slab that starts at or before an address; -1 if none does. */
  private int indexBefore(long address) {
    int low = 0;
    int high = slabs.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(slabs.get(middle).memory.address(), address) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low - 1;
  }

  private int number(Slab slab, long address) {
    return (int) ((address - slab.memory.address()) / pageBytes);
  }

  /** Drops a reference to a page and frees it with the last one. */
  public void release(long address) {
    if (dropReference(address)) {
      bytes.release(totalPageBytes());
    }
  }

  private synchronized boolean dropReference(long address) {
    int index = indexBefore(address);
    if (index < 0) {
      return false; // the engine was closed before this sequence
    }
    Slab slab = slabs.get(index);
    int page = number(slab, address);
    if (--slab.refCounts[page] > 0) {
      return false;
    }
    slab.free[slab.freeCount++] = page;
    if (slab.freeCount == 1) {
      open.add(slab);
    }
    if (slab.freeCount == SLAB_PAGES && open.size() > 1) {
      open.remove(slab);
      slabs.remove(index);
      context.enter();
      slab.memory.close(); // waits for pending device work
    }
    return true;
  }

  /**
   * Fills all slabs with random numbers below two, for benchmarks: no fp16 number is infinite. All
   * slabs copy the first one, since generating random bytes for a full card would take longer than
   * the steps.
   */
  synchronized void fillRandom(CudaStream stream) {
    if (slabs.isEmpty()) {
      return;
    }
    DeviceMemory first = slabs.getFirst().memory;
    first.fillRandom(stream);
    for (Slab slab : slabs) {
      if (slab.memory != first) {
        slab.memory.copy(stream, 0, first);
      }
    }
    stream.synchronize();
  }

  public synchronized int allocated() {
    int count = 0;
    for (Slab slab : slabs) {
      count += SLAB_PAGES - slab.freeCount;
    }
    return count;
  }

  @Override
  public synchronized void close() {
    closed = true;
    AutoCloseable[] all = slabs.stream().map(slab -> slab.memory).toArray(AutoCloseable[]::new);
    slabs.clear();
    open.clear();
    Resources.closeAll(all);
  }
}
