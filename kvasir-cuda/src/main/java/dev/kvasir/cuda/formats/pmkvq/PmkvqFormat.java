package dev.kvasir.cuda.formats.pmkvq;

import dev.kvasir.attention.AttentionShape;
import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.driver.KernelModule;
import dev.kvasir.cuda.formats.CompactPageFormat;
import dev.kvasir.cuda.formats.DeviceCacheConfig;
import dev.kvasir.cuda.formats.PageLevels;
import dev.kvasir.cuda.formats.PageQuantizer;
import dev.kvasir.cuda.memory.PackedPage;
import dev.kvasir.cuda.memory.PagePool;
import dev.kvasir.cuda.memory.PagePools;

/**
 * PM-KVQ: codes that are requantized from 16 bits down. 16-bit pages are unchanged fp16 pages.
 * Pages of 8, 4 and 2 bits are {@link PackedPage}s, whose scales are a third of the range at any
 * width.
 */
record PmkvqFormat() implements CompactPageFormat {
  /** Bits of a code by level; the first level is fp16. */
  static final int[] BITS = {16, 8, 4, 2};

  /** Returns the factor from a stored scale to a quantization step. */
  static float unit(int bits) {
    return 3f / ((1 << bits) - 1);
  }

  /** Returns the bits of the widest codes. */
  @Override
  public int bits() {
    return BITS[1];
  }

  @Override
  public String kernelName() {
    return "widths";
  }

  /** Returns the bytes of a page of the widest codes. */
  @Override
  public int pageBytes(int headDim) {
    return new PackedPage(bits(), headDim).bytes();
  }

  @Override
  public boolean requantizes() {
    return true;
  }

  @Override
  public PageLevels newLevels(
      KernelModule module, AttentionShape shape, PagePool fp16Pool, PagePools pools) {
    return new BitWidthPools(module, shape, fp16Pool, pools);
  }

  @Override
  public PageQuantizer newQuantizer(
      KernelModule module, CudaStream stream, DeviceCacheConfig cacheConfig, AttentionShape shape) {
    return null;
  }

  @Override
  public String toString() {
    return "pmkvq";
  }
}
