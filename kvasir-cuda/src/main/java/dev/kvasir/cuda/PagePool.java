package dev.kvasir.cuda;

import java.util.stream.IntStream;

/**
 * Pages of one size on a device, of all layers: what is taken is a page of every layer, named by
 * that of the first.
 *
 * <pre>
 * (layers, pages, kvHeads) pages of a head
 * </pre>
 */
final class PagePool implements AutoCloseable {
  private final DeviceMemory memory;
  private final long pageBytes;
  private final int pages;
  private final int[] free; // numbers of pages, a stack
  private int freeCount;

  /**
   * @param pageBytes of all KV heads in a layer
   */
  PagePool(Context context, int layers, int pages, long pageBytes) {
    this.memory = context.allocate(layers * pages * pageBytes);
    this.pageBytes = pageBytes;
    this.pages = pages;
    this.free = IntStream.range(0, pages).map(page -> pages - 1 - page).toArray();
    this.freeCount = pages;
  }

  /** From a layer's page to the next layer's. */
  long layerStride() {
    return pages * pageBytes;
  }

  /**
   * @throws DeviceRefusal if all are taken
   */
  long take() {
    if (freeCount == 0) {
      throw new DeviceRefusal("all %d pages of 64 tokens on the device are taken".formatted(pages));
    }
    return memory.address() + free[--freeCount] * pageBytes;
  }

  void giveBack(long address) {
    free[freeCount++] = (int) ((address - memory.address()) / pageBytes);
  }

  int taken() {
    return pages - freeCount;
  }

  @Override
  public void close() {
    memory.close();
  }
}
