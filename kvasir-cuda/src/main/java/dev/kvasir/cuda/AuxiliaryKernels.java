package dev.kvasir.cuda;

/**
 * What the attention of a format does beside reading pages: tables that are made before, sums that
 * are finished after. Its launches belong to those of the step and may be recorded with them.
 */
interface AuxiliaryKernels extends AutoCloseable {
  AuxiliaryKernels NONE =
      new AuxiliaryKernels() {
        @Override
        public void close() {}
      };

  /**
   * One launch of attention.
   *
   * @param offsets of the layer's own pages
   * @param queries halves on the device // (sequences, queryHeads, headDim)
   * @param outputs like them
   */
  record Call(PageTable table, LayerOffsets offsets, long queries, long outputs) {}

  /** Numbers of a head that blocks leave to be added up. */
  default int accumulatorSize(int headDim) {
    return headDim;
  }

  /** A batch is shared out anew; launches that follow are for it. */
  default void plan(PageTable table, SplitPlan splitPlan) {}

  /** What attention is told to read beside pages. */
  default long tableAddress(int layer) {
    return 0;
  }

  /** What attention is told to write beside outputs. */
  default long workspaceAddress() {
    return 0;
  }

  default void prologue(CudaStream stream, Call call) {}

  /** Rows of prompts are about to attend, at once and without what is planned here. */
  default void observePrefill(CudaStream stream, PrefillChunks chunks, Call call) {}

  default void epilogue(CudaStream stream, Call call) {}

  @Override
  void close();
}
