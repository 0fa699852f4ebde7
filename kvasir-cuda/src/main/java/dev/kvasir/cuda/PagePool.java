package dev.kvasir.cuda;

import dev.kvasir.memory.MemoryPool;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Pages of one size on a device, of all layers: what is taken is a page of every layer, named by
 * the address of the first one's. Memory of the device is taken and given back in slabs, all of one
 * size, so that layers lie equally far apart in each:
 *
 * <pre>
 * slab  (layers, 64 pages, kvHeads) pages of a head
 * </pre>
 *
 * Pages are counted by the sequences that hold them. Bytes of pages are taken from the pool of all
 * sequences beforehand and without the lock: who yields there comes back here.
 */
final class PagePool implements AutoCloseable {
  static final int SLAB_PAGES = 64;

  private final CudaContext context;
  private final MemoryPool bytes;
  private final int layers;
  private final long pageBytes;
  private final TreeMap<Long, Slab> slabs = new TreeMap<>(); // by address
  private final Deque<Slab> open = new ArrayDeque<>(); // those with free pages
  private boolean closed;

  /** Some pages of every layer. */
  private static final class Slab {
    final DeviceMemory memory;
    final int[] refCounts = new int[SLAB_PAGES]; // of each page
    final int[] free = new int[SLAB_PAGES]; // numbers of pages, a stack
    int freeCount = SLAB_PAGES;

    Slab(DeviceMemory memory) {
      this.memory = memory;
      for (int i = 0; i < SLAB_PAGES; i++) {
        free[i] = SLAB_PAGES - 1 - i;
      }
    }
  }

  /**
   * @param bytes that pages are taken from
   * @param pageBytes of all KV heads in a layer
   */
  PagePool(CudaContext context, MemoryPool bytes, int layers, long pageBytes) {
    this.context = context;
    this.bytes = bytes;
    this.layers = layers;
    this.pageBytes = pageBytes;
  }

  /** From a layer's page to the next layer's. */
  long layerStride() {
    return SLAB_PAGES * pageBytes;
  }

  /** Of a page in one layer, of all KV heads. */
  long pageBytes() {
    return pageBytes;
  }

  /** Of a page in all layers. */
  long totalPageBytes() {
    return layers * pageBytes;
  }

  /**
   * Takes pages, each with one holder.
   *
   * @throws dev.kvasir.memory.MemoryFullException where the pool of all sequences has not as many
   *     bytes
   * @throws DeviceException where the device has not
   * @throws IllegalStateException where the pool is closed: a step takes its pages before it has
   *     the lock, so whoever closes the engine may come between; nothing has changed in any case
   */
  long[] allocate(int count) {
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
      slabs.put(slab.memory.address(), slab);
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

  /** Another sequence holds a page too. */
  synchronized void retain(long address) {
    Map.Entry<Long, Slab> found = slabs.floorEntry(address);
    found.getValue().refCounts[number(found, address)]++;
  }

  synchronized boolean isShared(long address) {
    Map.Entry<Long, Slab> found = slabs.floorEntry(address);
    return found.getValue().refCounts[number(found, address)] > 1;
  }

  private int number(Map.Entry<Long, Slab> slab, long address) {
    return (int) ((address - slab.getKey()) / pageBytes);
  }

  /** One who held a page does no more. */
  void release(long address) {
    if (dropReference(address)) {
      bytes.release(totalPageBytes());
    }
  }

  private synchronized boolean dropReference(long address) {
    Map.Entry<Long, Slab> found = slabs.floorEntry(address);
    if (found == null) {
      return false; // all went with the engine, before this sequence
    }
    Slab slab = found.getValue();
    int page = number(found, address);
    if (--slab.refCounts[page] > 0) {
      return false;
    }
    slab.free[slab.freeCount++] = page;
    if (slab.freeCount == 1) {
      open.add(slab);
    }
    if (slab.freeCount == SLAB_PAGES && open.size() > 1) {
      open.remove(slab);
      slabs.remove(found.getKey());
      context.enter();
      slab.memory.close(); // waits for what the device still does with it
    }
    return true;
  }

  /**
   * Fills all slabs with numbers below two, to measure with: no byte makes a half infinite. All
   * have those of the first, since a full card would wait for random ones longer than for steps.
   */
  synchronized void fillRandom(CudaStream stream) {
    if (slabs.isEmpty()) {
      return;
    }
    DeviceMemory first = slabs.firstEntry().getValue().memory;
    first.fillRandom(stream);
    for (Slab slab : slabs.values()) {
      if (slab.memory != first) {
        slab.memory.copy(stream, 0, first);
      }
    }
    stream.synchronize();
  }

  /** Pages that somebody holds. */
  synchronized int allocated() {
    int count = 0;
    for (Slab slab : slabs.values()) {
      count += SLAB_PAGES - slab.freeCount;
    }
    return count;
  }

  @Override
  public synchronized void close() {
    closed = true;
    AutoCloseable[] all =
        slabs.values().stream().map(slab -> slab.memory).toArray(AutoCloseable[]::new);
    slabs.clear();
    open.clear();
    Resources.closeAll(all);
  }
}
