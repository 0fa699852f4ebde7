package dev.kvasir.cache;

import dev.kvasir.codec.DequantizingReader;
import dev.kvasir.codec.Page;
import dev.kvasir.codec.PageReader;
import dev.kvasir.codec.PageReaders;
import dev.kvasir.kernel.Kernels;

/** One worker's readers of blocks, with their scratch memory: of pages by kind, of dense rows. */
public final class BlockReaders {
  private final PageReaders pages;
  private final DenseReader dense;
  private boolean isStored;

  /**
   * @param keyDim channels of a key
   * @param valueDim channels of a value
   */
  public BlockReaders(Kernels kernels, int keyDim, int valueDim) {
    this.pages = new PageReaders(kernels, keyDim, valueDim);
    this.dense = new DenseReader(kernels, keyDim, valueDim);
  }

  /**
   * Starts a pass over blocks.
   *
   * @param computesOnStored whether query rows compute on the stored representation, or on expanded
   *     vectors
   */
  public void beginPass(boolean computesOnStored) {
    beginPass(computesOnStored, this, 0, 1);
  }

  /**
   * Starts a pass of one of several adjacent KV heads that visit each block in turn.
   *
   * @param first readers of the first of them
   * @param head index of this head among them
   * @param heads their number
   */
  public void beginPass(boolean computesOnStored, BlockReaders first, int head, int heads) {
    isStored = computesOnStored;
    pages.beginPass(first.pages, head, heads);
  }

  /** Scales deferred sums of a row after its running maximum has grown. */
  public void rescale(int row, float factor) {
    pages.rescale(row, factor);
  }

  /**
   * Ends a pass: adds deferred sums.
   *
   * @param accumulator (rows, valueDim), added to
   */
  public void endPass(int rows, float[] accumulator) {
    pages.endPass(rows, accumulator);
  }

  boolean computesOnStored() {
    return isStored;
  }

  DenseReader dense() {
    return dense;
  }

  PageReader of(Page page) {
    return isStored ? page.reader(pages) : pages.of(DequantizingReader.KIND);
  }
}
