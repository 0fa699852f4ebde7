package dev.kvasir.cuda.engine;

import dev.kvasir.cache.CacheFullException;
import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.codec.Snapshot;
import dev.kvasir.codec.SnapshotHeader;
import dev.kvasir.cuda.driver.DeviceException;
import dev.kvasir.cuda.driver.Resources;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.memory.DividedTransfer;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.memory.MemoryFullException;
import java.util.List;

/**
 * Fills a sequence on devices with stored parts. The residual part is checked before pages are
 * allocated, each block when it is uploaded.
 */
final class DeviceRestorer {
  private final boolean quantizes;
  private final DeviceCacheConfig cacheConfig;
  private final CacheSnapshot snapshot;
  private final StoredForm form;
  private final StoredForm.Residual residual;

  /**
   * @param cacheConfig of all layers
   * @param shape of all layers
   * @throws dev.kvasir.error.InvalidInputException if the residual part is damaged or does not
   *     belong to the blocks
   */
  DeviceRestorer(DeviceCacheConfig cacheConfig, CacheShape shape, CacheSnapshot snapshot) {
    this.cacheConfig = cacheConfig;
    this.quantizes = cacheConfig.format().isQuantized();
    this.snapshot = snapshot;
    this.form = new StoredForm(shape, cacheConfig);
    this.residual = form.residual(snapshot.residualToRead());
    SnapshotLayout layout = residual.layout();
    if (layout.blocks() != snapshot.blocks() || layout.length() != snapshot.length()) {
      throw SnapshotHeader.RESIDUAL.invalid(
          "has %d whole blocks and %d positions; %d and %d are there"
              .formatted(layout.blocks(), layout.length(), snapshot.blocks(), snapshot.length()));
    }
  }

  /**
   * Fills empty caches, one for the layers of each card. If it fails, all are closed.
   *
   * @throws CacheFullException if there is too little memory
   * @throws dev.kvasir.error.InvalidInputException if a block is damaged
   */
  void fill(List<DeviceCache> caches) {
    try {
      for (DeviceCache each : caches) {
        allocate(each.pages());
      }
      upload(
          StoredParts.of(
              cacheConfig,
              caches.stream()
                  .map(each -> new StoredParts.Part(each.resources(), each.pages()))
                  .toList()));
      caches.forEach(each -> each.commit(residual.layout().length()));
    } catch (RuntimeException | Error e) {
      caches.forEach(each -> Resources.closeAfter(e, each));
      throw e;
    }
  }

  private void upload(StoredParts parts) {
    SnapshotLayout layout = residual.layout();
    DividedTransfer blocks = parts.blockTransfer();
    for (int i = 0; i < layout.blocks(); i++) {
      Snapshot stored = snapshot.blockToRead(i);
      blocks.upload(form.blockPages(stored, layout.position(i)), parts.block(i));
    }
    parts.residualTransfer().upload(residual.pages(), parts.residual(layout));
  }

  private void allocate(SequencePages pages) {
    SnapshotLayout layout = residual.layout();
    int packed = quantizes ? Fp16Page.BLOCK_PAGES * layout.blocks() : 0;
    try {
      pages.allocateFor(layout.length(), packed);
    } catch (MemoryFullException | DeviceException e) {
      throw new CacheFullException(
          "a stored sequence of %d tokens cannot be held: %s"
              .formatted(layout.length(), e.getMessage()));
    }
  }
}
