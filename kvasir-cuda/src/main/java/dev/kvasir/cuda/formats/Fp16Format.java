package dev.kvasir.cuda.formats;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.memory.Fp16Page;

/** Unquantized fp16 pages. A warp reads 16 tokens at a time. */
record Fp16Format() implements PageFormat {
  @Override
  public int bits() {
    return 16;
  }

  @Override
  public boolean isQuantized() {
    return false;
  }

  @Override
  public boolean isStorable() {
    return true;
  }

  @Override
  public String kernelName() {
    return "fp16";
  }

  @Override
  public int pageBytes(int headDim) {
    return new Fp16Page(headDim).bytes();
  }

  @Override
  public int unitBytes(int headDim) {
    return new Fp16Page(headDim).tileBytes();
  }

  @Override
  public int pageUnits() {
    return Fp16Page.TILES;
  }

  @Override
  public int maxHeads(int headDim) {
    return HeadBlocks.MAX_HEADS;
  }

  @Override
  public boolean attendsWithLimits() {
    return true;
  }

  @Override
  public PageQuantizer newQuantizer(
      KernelModule module, CudaStream stream, DeviceCacheConfig cacheConfig, AttentionShape shape) {
    return null;
  }

  @Override
  public String toString() {
    return "fp16";
  }
}
