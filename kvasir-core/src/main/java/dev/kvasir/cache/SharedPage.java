package dev.kvasir.cache;

import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageWorkspace;
import dev.kvasir.kernel.Kernels;

/** A page with its reference count. */
record SharedPage(Page page, RefCount refCount) implements BlockView {
  static SharedPage of(Page page) {
    return new SharedPage(page, new RefCount());
  }

  SharedPage share() {
    refCount.retain();
    return this;
  }

  void release() {
    if (refCount.release()) {
      page.close();
    }
  }

  long bytes() {
    return page.codeBytes() + page.scaleBytes();
  }

  @Override
  public boolean prefetch(BlockReaders readers, int kvHead) {
    readers.of(page).prefetch(page, kvHead);
    return true;
  }

  @Override
  public int tokensToRead(int visible) {
    return Page.TOKENS;
  }

  @Override
  public void score(
      BlockReaders readers, int kvHead, int tokens, float[] queries, int rows, float[] scores) {
    readers.of(page).score(page, kvHead, queries, rows, scores);
  }

  @Override
  public void accumulate(
      BlockReaders readers,
      int kvHead,
      int tokens,
      float[] weights,
      int rows,
      float[] accumulator) {
    readers.of(page).accumulate(page, kvHead, weights, rows, accumulator);
  }

  @Override
  public void expandKeys(Kernels kernels, int kvHead, int tokens, float[] out) {
    page.dequantizeKeys(new PageWorkspace(kernels), kvHead, tokens, out);
  }

  @Override
  public void expandValues(Kernels kernels, int kvHead, int tokens, float[] out) {
    page.dequantizeValues(new PageWorkspace(kernels), kvHead, tokens, out);
  }
}
