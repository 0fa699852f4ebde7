package dev.kvasir.cuda;

import dev.kvasir.attention.AttentionShape;
import java.util.SortedSet;

/**
 * Codes that shrink from 16 bits on. Pages of 16 bits are halves as they came; of 8, 4 and 2 bits
 * they are {@link PackedPage}, with scales that are a third of a range at any width.
 */
record PmkvqFormat() implements PageFormat {
  /** Bits of a code by level; those of the first are halves. */
  static final int[] BITS = {16, 8, 4, 2};

  private static final int MAX_WARPS = 12;

  /** What a scale is multiplied by to be a step. */
  static float unit(int bits) {
    return 3f / ((1 << bits) - 1);
  }

  /** Of the widest codes. */
  @Override
  public int bits() {
    return BITS[1];
  }

  @Override
  public String kernelName() {
    return "widths";
  }

  /** Of the widest codes. */
  @Override
  public int pageBytes(int headDim) {
    return new PackedPage(bits(), headDim).bytes();
  }

  @Override
  public SortedSet<Integer> headDims() {
    return HeadBlocks.COMMON_HEAD_DIMS;
  }

  @Override
  public int maxHeads(int headDim) {
    return HeadBlocks.SET_HEADS;
  }

  @Override
  public int maxWarps() {
    return MAX_WARPS;
  }

  @Override
  public boolean requantizes() {
    return true;
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
