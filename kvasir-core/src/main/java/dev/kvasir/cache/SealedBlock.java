package dev.kvasir.cache;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageRoom;
import dev.kvasir.codec.ShrinkingSequence;
import dev.kvasir.kernel.Kernels;
import dev.kvasir.memory.MemoryPool;
import dev.kvasir.memory.SharedArena;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Tokens whose vectors are packed in the layers of a group: one page a layer. A block belongs to
 * one sequence, which may replace its pages; the pages are shared with forks.
 */
final class SealedBlock implements Block {
  private final LayerGroup group;
  private final SharedPage[] pages; // in the order of the group's layers
  private final boolean isOld;

  SealedBlock(LayerGroup group, List<Page> pages) {
    this(group, pages, false);
  }

  /**
   * @param isOld whether its pages were packed anew with fewer bits when they were stored
   */
  SealedBlock(LayerGroup group, List<Page> pages, boolean isOld) {
    this(group, pages.stream().map(SharedPage::of).toArray(SharedPage[]::new), isOld);
  }

  private SealedBlock(LayerGroup group, SharedPage[] pages, boolean isOld) {
    this.group = group;
    this.pages = pages;
    this.isOld = isOld;
  }

  boolean isOld() {
    return isOld;
  }

  @Override
  public void expandKeys(Kernels kernels, int layer, int kvHead, int tokens, float[] out) {
    page(layer).expandKeys(new PageRoom(kernels), kvHead, tokens, out);
  }

  @Override
  public void expandValues(Kernels kernels, int layer, int kvHead, int tokens, float[] out) {
    page(layer).expandValues(new PageRoom(kernels), kvHead, tokens, out);
  }

  Page page(int layer) {
    return pages[group.place(layer)].page();
  }

  /**
   * Puts a narrower page in place of a layer's, once there is one.
   *
   * @param pool that has to do with both for a moment
   */
  void shrink(ShrinkingSequence codec, int layer, int level, MemoryPool pool) {
    SharedPage wide = pages[group.place(layer)];
    long most = wide.page().codeBytes() + wide.page().scaleBytes();
    pool.borrow(most);
    SharedArena memory = new SharedArena(pool, most);
    try {
      pages[group.place(layer)] = SharedPage.of(codec.shrunk(memory, wide.page(), level));
      memory.settle();
    } finally {
      memory.release();
    }
    wide.release();
  }

  /** Bytes of a layer's page that would be free if this sequence let go of it. */
  long freeableBytes(int layer) {
    Page page = page(layer);
    return pages[group.place(layer)].holders().isShared()
        ? 0
        : page.codeBytes() + page.scaleBytes();
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
  public SealedBlock share() {
    return new SealedBlock(
        group, Arrays.stream(pages).map(SharedPage::share).toArray(SharedPage[]::new), isOld);
  }

  @Override
  public void release() {
    for (SharedPage page : pages) {
      page.release();
    }
  }
}
