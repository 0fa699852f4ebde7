package dev.kvasir.cuda.memory;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Copies pages whose layers are divided over several devices. On the host, the bytes are those of
 * pages on one device:
 *
 * <pre>
 * bytes (layers, pages, pageBytes), or (pages, layers, pageBytes) if layers are together
 * </pre>
 *
 * @param parts transfers of each device, in the order of layers
 * @param layersTogether whether all layers of a page precede the next page
 */
public record DividedTransfer(List<PageTransfer> parts, boolean layersTogether) {
  /** Copies the pages of a part. */
  private interface PartTask {
    void transfer(PageTransfer part, long[] pages, MemorySegment bytes);
  }

  /**
   * Copies pages from the devices.
   *
   * @param pages addresses in the first layer of each part
   */
  public void download(List<long[]> pages, MemorySegment target) {
    copy(pages, target, (part, own, bytes) -> part.download(own, bytes));
  }

  /**
   * Copies pages to the devices.
   *
   * @param pages addresses in the first layer of each part
   */
  public void upload(MemorySegment source, List<long[]> pages) {
    copy(pages, source, (part, own, bytes) -> part.upload(bytes, own));
  }

  private void copy(List<long[]> pages, MemorySegment bytes, PartTask task) {
    if (parts.size() == 1) {
      task.transfer(parts.getFirst(), pages.getFirst(), bytes);
    } else if (layersTogether) {
      copyOneByOne(pages, bytes, task);
    } else {
      copyParts(pages, bytes, task);
    }
  }

  private void copyOneByOne(List<long[]> pages, MemorySegment bytes, PartTask task) {
    int count = pages.getFirst().length;
    long each = bytes.byteSize() / Math.max(1, count);
    for (int i = 0; i < count; i++) {
      int page = i;
      List<long[]> one = pages.stream().map(all -> new long[] {all[page]}).toList();
      copyParts(one, bytes.asSlice(page * each, each), task);
    }
  }

  private void copyParts(List<long[]> pages, MemorySegment bytes, PartTask task) {
    long at = 0;
    for (int i = 0; i < parts.size(); i++) {
      long own = parts.get(i).bytes(pages.get(i).length);
      task.transfer(parts.get(i), pages.get(i), bytes.asSlice(at, own));
      at += own;
    }
    if (at != bytes.byteSize()) {
      throw new IllegalArgumentException(
          "%d bytes; expected %d of all parts".formatted(bytes.byteSize(), at));
    }
  }
}
