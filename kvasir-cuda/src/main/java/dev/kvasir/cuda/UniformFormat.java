package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;

/**
 * Codes with a scale and a zero for some of them, keys by channel and values by token: {@link
 * PackedPage}.
 *
 * @param bits 2 or 4
 */
record UniformFormat(int bits) implements PageFormat {
  @Override
  public String kernelName() {
    return "kivi" + bits;
  }

  @Override
  public int pageBytes(int headDim) {
    return new PackedPage(bits, headDim).bytes();
  }

  /** Outputs of two sets of wide heads have no room in registers. */
  @Override
  public int mostHeads(int headDim) {
    return headDim == HeadBlocks.WIDE ? HeadBlocks.SET : HeadBlocks.MOST_HEADS;
  }

  @Override
  public boolean readsPackedPrompts() {
    return true;
  }

  @Override
  public PagePacker packer(
      KernelModule module, Stream stream, PageKind kind, AttentionShape shape) {
    return new UniformPacker(module, this, shape, kind.group(), kind.group());
  }

  @Override
  public String toString() {
    return "kivi:" + bits;
  }
}
