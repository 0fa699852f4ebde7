package dev.kvasir.cuda.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * Copies pages of all layers between a device and the host, in pieces of a few megabytes: the lock
 * of the device is free between them, and pinned or off-heap memory for whole sequences is not
 * needed. On the host, pages are ordered by layer:
 *
 * <pre>
 * bytes (layers, pages, pageBytes)
 * </pre>
 *
 * @param layerStride bytes between the pages of consecutive layers on the device
 * @param pageBytes bytes of a page in one layer, all KV heads
 * @param queue runs the copies of a piece
 */
public record PageTransfer(int layers, long layerStride, long pageBytes, DeviceQueue queue) {
  /** Maximum bytes of a piece, unless a page of one layer is larger. */
  static final long PIECE_BYTES = 4L << 20;

  private static final long STAGING_ALIGNMENT = 16;

  /** Copies in stream order, between a device and off-heap memory. */
  public interface Copies {
    /**
     * @param from device address
     */
    void download(MemorySegment target, long from, long bytes);

    /**
     * @param to device address
     */
    void upload(long to, MemorySegment source, long bytes);
  }

  /** Returns the bytes of pages in all layers. */
  public long bytes(int pages) {
    return layers * pages * pageBytes;
  }

  /** Runs the copies of a piece under the lock of the device and waits for them. */
  @FunctionalInterface
  public interface DeviceQueue {
    void run(Consumer<Copies> piece);
  }

  /** A piece of a transfer: pages from one on, counted over all layers. */
  private interface PieceTask {
    void transfer(long first, MemorySegment staging, MemorySegment part);
  }

  /**
   * Copies pages from the device.
   *
   * @param pages device addresses in the first layer
   */
  public void download(long[] pages, MemorySegment target) {
    inPieces(
        pages,
        target,
        (first, staging, part) -> {
          queue.run(
              copies -> {
                for (int i = 0; i < staging.byteSize() / pageBytes; i++) {
                  copies.download(at(staging, i), address(pages, first + i), pageBytes);
                }
              });
          part.copyFrom(staging);
        });
  }

  /**
   * Copies pages to the device.
   *
   * @param pages device addresses in the first layer
   */
  public void upload(MemorySegment source, long[] pages) {
    inPieces(
        pages,
        source,
        (first, staging, part) -> {
          staging.copyFrom(part);
          queue.run(
              copies -> {
                for (int i = 0; i < staging.byteSize() / pageBytes; i++) {
                  copies.upload(address(pages, first + i), at(staging, i), pageBytes);
                }
              });
        });
  }

  private void inPieces(long[] pages, MemorySegment bytes, PieceTask task) {
    long all = (long) layers * pages.length;
    if (bytes.byteSize() != all * pageBytes) {
      throw new IllegalArgumentException(
          "%d bytes; expected %d of %d pages in %d layers"
              .formatted(bytes.byteSize(), all * pageBytes, pages.length, layers));
    }
    long most = Math.min(all, Math.max(1, PIECE_BYTES / pageBytes));
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment staging = arena.allocate(most * pageBytes, STAGING_ALIGNMENT);
      for (long first = 0; first < all; first += most) {
        long size = Math.min(most, all - first) * pageBytes;
        task.transfer(first, staging.asSlice(0, size), bytes.asSlice(first * pageBytes, size));
      }
    }
  }

  private MemorySegment at(MemorySegment staging, int index) {
    return staging.asSlice(index * pageBytes, pageBytes);
  }

  /** Returns the device address of a page counted over all layers. */
  private long address(long[] pages, long index) {
    return pages[(int) (index % pages.length)] + index / pages.length * layerStride;
  }
}
