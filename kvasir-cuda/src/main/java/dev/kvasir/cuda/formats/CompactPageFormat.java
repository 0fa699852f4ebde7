package dev.kvasir.cuda.formats;

import java.util.SortedSet;

/**
 * A format whose kernels keep tables or codebooks next to the pages: they support common head
 * dimensions, one set of heads per block, and fewer warps.
 */
public interface CompactPageFormat extends PageFormat {
  @Override
  default SortedSet<Integer> headDims() {
    return HeadBlocks.COMMON_HEAD_DIMS;
  }

  @Override
  default int maxHeads(int headDim) {
    return HeadBlocks.SET_HEADS;
  }

  /** Returns the limit set by the registers of the kernels. */
  @Override
  default int maxWarps() {
    return 12;
  }
}
