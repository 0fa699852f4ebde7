package dev.kvasir.cache;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.RequantizingSequence;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * A quantized block in the layers of a group: one page per layer. A block belongs to one sequence,
 * which may replace its pages. Forks share the pages.
 */
final class QuantizedBlock implements Block {
  private final LayerGroup group;
  private final SharedPage[] pages; // in the order of the group's layers
  private final boolean isCold;

  QuantizedBlock(LayerGroup group, List<Page> pages) {
    this(group, pages, false);
  }

  /**
   * @param isCold whether its pages were requantized when they were stored
   */
  QuantizedBlock(LayerGroup group, List<Page> pages, boolean isCold) {
    this(group, pages.stream().map(SharedPage::of).toArray(SharedPage[]::new), isCold);
  }

  private QuantizedBlock(LayerGroup group, SharedPage[] pages, boolean isCold) {
    this.group = group;
    this.pages = pages;
    this.isCold = isCold;
  }

  boolean isCold() {
    return isCold;
  }

  @Override
  public SharedPage view(int layer) {
    return pages[group.indexOf(layer)];
  }

  Page page(int layer) {
    return view(layer).page();
  }

  /**
   * Replaces a layer's page by a narrower one.
   *
   * @param pool counts both pages for a moment
   */
  void requantize(RequantizingSequence codec, int layer, int level, MemoryPool pool) {
    SharedPage wide = view(layer);
    long maxBytes = wide.bytes();
    pool.overdraw(maxBytes);
    SharedArena memory = new SharedArena(pool, maxBytes);
    try {
      pages[group.indexOf(layer)] =
          SharedPage.of(codec.requantize(memory, layer, wide.page(), level));
      memory.releaseUnused();
    } finally {
      memory.release();
    }
    wide.release();
  }

  /** Returns the bytes of a layer's page that become free if this sequence releases it. */
  long freeableBytes(int layer) {
    SharedPage page = view(layer);
    return page.refCount().isShared() ? 0 : page.bytes();
  }

  private Stream<Page> pages() {
    return Arrays.stream(pages).map(SharedPage::page);
  }

  long codeBytes() {
    return pages().mapToLong(Page::codeBytes).sum();
  }

  long scaleBytes() {
    return pages().mapToLong(Page::scaleBytes).sum();
  }

  @Override
  public QuantizedBlock share() {
    return new QuantizedBlock(
        group, Arrays.stream(pages).map(SharedPage::share).toArray(SharedPage[]::new), isCold);
  }

  @Override
  public void release() {
    for (SharedPage page : pages) {
      page.release();
    }
  }
}
