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
  private static final int RANDOM_BYTES = 1 << 22;

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

  /** Fills all pages with numbers below two, to measure with: no byte makes a half infinite. */
  void scramble(Stream stream) {
    memory.repeat(
        stream,
        RANDOM_BYTES,
        (bytes, random) -> {
          random.nextBytes(bytes);
          for (int i = 0; i < bytes.length; i++) {
            bytes[i] &= (byte) 0xBF;
          }
        });
  }

  int taken() {
    return pages - freeCount;
  }

  @Override
  public void close() {
    memory.close();
  }
}
