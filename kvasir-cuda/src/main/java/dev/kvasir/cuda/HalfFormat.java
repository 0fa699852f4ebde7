package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;

/** Nothing is packed. A warp takes 16 tokens at a time. */
record HalfFormat() implements PageFormat {
  @Override
  public int bits() {
    return 16;
  }

  @Override
  public boolean isPacked() {
    return false;
  }

  @Override
  public String kernelName() {
    return "fp16";
  }

  @Override
  public int pageBytes(int headDim) {
    return new HalfPage(headDim).bytes();
  }

  @Override
  public int unitBytes(int headDim) {
    return new HalfPage(headDim).tileBytes();
  }

  @Override
  public int pageUnits() {
    return HalfPage.TILES;
  }

  @Override
  public int mostHeads(int headDim) {
    return HeadBlocks.MOST_HEADS;
  }

  @Override
  public PagePacker packer(
      KernelModule module, Stream stream, PageKind kind, AttentionShape shape) {
    return null;
  }

  @Override
  public String toString() {
    return "fp16";
  }
}
