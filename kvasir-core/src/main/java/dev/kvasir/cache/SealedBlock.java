package dev.kvasir.cache;

import dev.kvasir.kernel.Kernels;
import dev.kvasir.page.Page;
import java.util.List;

/** Tokens whose vectors are packed: one page a layer. */
final class SealedBlock implements Block {
  private final List<Page> pages;
  private final Holders holders = new Holders();

  SealedBlock(List<Page> pages) {
    this.pages = pages;
  }

  @Override
  public void expandKeys(Kernels kernels, int layer, int kvHead, int tokens, float[] out) {
    pages.get(layer).expandKeys(kvHead, tokens, out);
  }

  @Override
  public void expandValues(Kernels kernels, int layer, int kvHead, int tokens, float[] out) {
    pages.get(layer).expandValues(kvHead, tokens, out);
  }

  Page page(int layer) {
    return pages.get(layer);
  }

  long codeBytes() {
    return pages.stream().mapToLong(Page::codeBytes).sum();
  }

  long scaleBytes() {
    return pages.stream().mapToLong(Page::scaleBytes).sum();
  }

  @Override
  public void retain() {
    holders.add();
  }

  @Override
  public void release() {
    if (holders.remove()) {
      pages.forEach(Page::close);
    }
  }
}
