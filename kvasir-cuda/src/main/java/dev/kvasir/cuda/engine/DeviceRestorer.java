package dev.kvasir.cuda.engine;

import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PageTransfer;
import dev.kvasir.memory.MemoryFullException;

/**
 * Fills a sequence on a device with stored parts. The residual part is checked before pages are
 * allocated, each block when it is uploaded.
 */
final class DeviceRestorer {
  private final CacheResources resources;
  private final CacheSnapshot snapshot;
  private final StoredForm form;
  private final StoredForm.Residual residual;

  /**
   * @throws dev.kvasir.error.InvalidInputException if the residual part is damaged or does not
   *     belong to the blocks
   */
  DeviceRestorer(CacheResources resources, CacheShape shape, CacheSnapshot snapshot) {
    this.resources = resources;
    this.snapshot = snapshot;
    this.form = new StoredForm(shape, resources.cacheConfig());
    this.residual = form.residual(snapshot.residualToRead());
    SnapshotLayout layout = residual.layout();
    if (layout.blocks() != snapshot.blocks() || layout.length() != snapshot.length()) {
      throw SnapshotHeader.RESIDUAL.invalid(
          "has %d whole blocks and %d positions; %d and %d are there"
              .formatted(layout.blocks(), layout.length(), snapshot.blocks(), snapshot.length()));
    }
  }

  int length() {
    return residual.layout().length();
  }

  /**
   * Allocates the pages of an empty sequence and uploads them. If it fails, the caller closes the
   * sequence.
   *
   * @throws CacheFullException if there is too little memory
   * @throws dev.kvasir.error.InvalidInputException if a block is damaged
   */
  void fill(SequencePages pages) {
    SnapshotLayout layout = residual.layout();
    allocate(pages, layout);
    PageTransfer blocks = resources.transfer(DeviceSnapshot.blockPool(resources));
    for (int i = 0; i < layout.blocks(); i++) {
      Snapshot stored = snapshot.blockToRead(i);
      blocks.upload(
          form.blockPages(stored, layout.position(i)),
          DeviceSnapshot.blockPages(resources, pages, i));
    }
    resources
        .transfer(resources.fp16Pool())
        .upload(residual.pages(), DeviceSnapshot.residualPages(resources, pages, layout));
  }

  private void allocate(SequencePages pages, SnapshotLayout layout) {
    int packed = resources.quantizes() ? Fp16Page.BLOCK_PAGES * layout.blocks() : 0;
    try {
      pages.allocateFor(layout.length(), packed);
    } catch (MemoryFullException | DeviceException e) {
      throw new CacheFullException(
          "a stored sequence of %d tokens cannot be held: %s"
              .formatted(layout.length(), e.getMessage()));
    }
  }
}
