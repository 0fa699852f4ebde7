package dev.kvasir.cuda.formats;

import dev.kvasir.cuda.driver.CudaStream;
import dev.kvasir.cuda.memory.LayerOffsets;
import dev.kvasir.cuda.memory.PageTable;
import dev.kvasir.cuda.memory.PrefillChunks;

/**
 * Kernels that a format runs before and after attention, such as score tables and final sums. Their
 * launches are part of the step and may be captured with it.
 */
public interface AuxiliaryKernels extends AutoCloseable {
  AuxiliaryKernels NONE =
      new AuxiliaryKernels() {
        @Override
        public void close() {}
      };

  /**
   * Arguments of one attention launch.
   *
   * @param offsets offsets of the layer's pages
   * @param queries device address of halves // (sequences, queryHeads, headDim)
   * @param outputs device address of halves, shaped like the queries
   */
  record Call(PageTable table, LayerOffsets offsets, long queries, long outputs) {}

  /** Returns the number of partial sums per head that thread blocks write for merging. */
  default int accumulatorSize(int headDim) {
    return headDim;
  }

  /** Prepares for the launches of a newly planned batch. */
  default void plan(PageTable table, SplitPlan splitPlan) {}

  /** Returns the address of tables that attention reads in addition to pages. */
  default long tableAddress(int layer) {
    return 0;
  }

  /** Returns the address of memory that attention uses in addition to its outputs. */
  default long workspaceAddress() {
    return 0;
  }

  default void prologue(CudaStream stream, Call call) {}

  /** Called before prompt chunks attend, which run outside the planned batch. */
  default void observePrefill(CudaStream stream, PrefillChunks chunks, Call call) {}

  default void epilogue(CudaStream stream, Call call) {}

  @Override
  void close();
}
