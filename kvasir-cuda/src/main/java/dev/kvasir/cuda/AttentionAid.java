package dev.kvasir.cuda;

/**
 * What the attention of a format does beside reading pages: tables that are made before, sums that
 * are finished after. Its launches belong to those of the step and may be recorded with them.
 */
interface AttentionAid extends AutoCloseable {
  AttentionAid NONE =
      new AttentionAid() {
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
  default int outputs(int headDim) {
    return headDim;
  }

  /** A batch is shared out anew; launches that follow are for it. */
  default void plan(PageTable table, Splitting splitting) {}

  /** What attention is told to read beside pages. */
  default long tables(int layer) {
    return 0;
  }

  /** What attention is told to write beside outputs. */
  default long collected() {
    return 0;
  }

  default void before(Stream stream, Call call) {}

  /** Rows of prompts are about to attend, at once and without what is planned here. */
  default void see(Stream stream, PromptRuns runs, Call call) {}

  default void after(Stream stream, Call call) {}

  @Override
  void close();
}
