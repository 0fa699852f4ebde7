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
  private static final int STEP_ROTATED_BYTES = 256;
  private static final int STEP_TURN_BYTES = 64;
  private static final int STEP_SUM_BYTES = 256;
  private static final int POINTER_BYTES = 32;
  private static final int FACTOR_BYTES = PartLayout.GROUP_TILES * PartLayout.TILE * 16;

  private int steps() {
    return headDim / StepWidths.CHANNELS;
  }

  /** Returns the bytes of a thread block: a head and queries. */
  int blockBytes() {
    int head = Math.ceilDiv(new HeadRecord(headDim).bytes(), ALIGNMENT) * ALIGNMENT;
    return head + steps() * STEP_QUERY_BYTES;
  }

  /** Returns the bytes of a chunk's slot: the outputs of a warp replace what precedes its sums. */
  int slotBytes(int chunkBytes) {
    int outputs = (2 * headDim + OUTPUT_PADDING) * HeadBlocks.SET_HEADS * Float.BYTES;
    int least = Math.ceilDiv(outputs - anglesAndQueries(), 2 * ALIGNMENT) * ALIGNMENT;
    return Math.max(chunkBytes, least);
  }

  private int anglesAndQueries() {
    return steps() * (STEP_TURN_BYTES + STEP_ROTATED_BYTES);
  }

  /**
   * Returns the bytes of a warp: two chunks, angles and queries of a block, sums, pointers,
   * factors.
   */
  int warpBytes(int chunkBytes) {
    return 2 * slotBytes(chunkBytes)
        + anglesAndQueries()
        + steps() * STEP_SUM_BYTES
        + POINTER_BYTES
        + FACTOR_BYTES;
  }
}
