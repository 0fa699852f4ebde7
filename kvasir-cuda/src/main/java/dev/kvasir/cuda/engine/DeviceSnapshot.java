package dev.kvasir.cuda.engine;

import dev.kvasir.cache.CacheSnapshot;
import dev.kvasir.codec.CacheShape;
import dev.kvasir.cuda.formats.CacheResources;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.memory.Fp16Page;
import dev.kvasir.cuda.memory.PagePool;
import java.util.Arrays;
import java.util.List;

/**
 * The contents of a sequence on a device, or on several. Parts are copied from the device when they
 * are asked for; until then the sequence must not change. Blocks are packed pages, or fp16 pages if
 * nothing is quantized, and never change as a sequence grows.
 */
final class DeviceSnapshot implements CacheSnapshot {
  private static final int BLOCK_PAGES = Fp16Page.BLOCK_PAGES;

  private final StoredParts parts;
  private final SnapshotLayout layout;
  private final StoredForm form;

  DeviceSnapshot(CacheResources resources, CacheShape shape, SequencePages pages, int length) {
    this(
        resources.cacheConfig(),
        shape,
        StoredParts.of(resources.cacheConfig(), List.of(new StoredParts.Part(resources, pages))),
        length);
  }

  /**
   * @param cacheConfig of all layers
   * @param shape of all layers
   */
  DeviceSnapshot(DeviceCacheConfig cacheConfig, CacheShape shape, StoredParts parts, int length) {
    this.parts = parts;
    int sinks = cacheConfig.sinks();
    this.layout =
        cacheConfig.format().isQuantized()
            ? new SnapshotLayout(length, parts.packedPages() / BLOCK_PAGES, sinks)
            : SnapshotLayout.ofDense(length, sinks);
    this.form = new StoredForm(shape, cacheConfig);
  }

  @Override
  public int length() {
    return layout.length();
  }

  @Override
  public int blocks() {
    return layout.blocks();
  }

  @Override
  public int end(int index) {
    return layout.position(index + 1);
  }

  @Override
  public byte[] block(int index) {
    return form.block(
        layout.position(index),
        target -> parts.blockTransfer().download(parts.block(index), target));
  }

  @Override
  public boolean hasImmutableBlocks() {
    return true;
  }

  @Override
  public byte[] residual() {
    return form.residual(
        layout, target -> parts.residualTransfer().download(parts.residual(layout), target));
  }

  /** Returns the pool of the pages of blocks. */
  static PagePool blockPool(CacheResources resources) {
    return resources.quantizes() ? resources.packedPool() : resources.fp16Pool();
  }

  static long[] blockPages(CacheResources resources, SequencePages pages, int index) {
    long[] all = resources.quantizes() ? pages.packed : pages.fp16;
    return Arrays.copyOfRange(all, BLOCK_PAGES * index, BLOCK_PAGES * (index + 1));
  }

  /** Returns the pages of sinks and window that have tokens; others may be reserved. */
  static long[] residualPages(
      CacheResources resources, SequencePages pages, SnapshotLayout layout) {
    int first = resources.quantizes() ? 0 : BLOCK_PAGES * layout.blocks();
    return SequencePages.concat(
        Arrays.copyOf(pages.sinks, layout.sinkPages()), pages.fp16, first, layout.windowPages());
  }
}
