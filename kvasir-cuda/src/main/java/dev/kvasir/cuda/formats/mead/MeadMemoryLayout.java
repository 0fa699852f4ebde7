package dev.kvasir.cuda.formats.mead;

import dev.kvasir.cuda.formats.HeadBlocks;

/** The shared memory of attention, as MeadMemory in mead.cuh has it. */
record MeadMemoryLayout(int headDim) {
  /** Half of what the tiling of blocks counts as the two stages of a warp. */
  static final int UNIT_BYTES = 16;

  private static final int ALIGNMENT = 128;

  /** Floats between the outputs of two heads, which then are in different banks. */
  private static final int OUTPUT_PADDING = 8;

  private static final int STEP_QUERY_BYTES = 128;

  /** Returns the bytes of a thread block: a head and queries. */
  int blockBytes() {
    int steps = headDim / StepWidths.CHANNELS;
    int head = Math.ceilDiv(new HeadRecord(headDim).bytes(), ALIGNMENT) * ALIGNMENT;
    return head + steps * STEP_QUERY_BYTES;
  }

  /** Returns the bytes of a warp: two chunks, the angles of a page, outputs. */
  int warpBytes(int chunkBytes) {
    return 2 * chunkBytes
        + headDim / 2 * 2 * Float.BYTES
        + (2 * headDim + OUTPUT_PADDING) * HeadBlocks.SET_HEADS * Float.BYTES;
  }
}
