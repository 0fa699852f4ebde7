package dev.kvasir.cuda.formats.commvq;

import dev.kvasir.cuda.formats.SequenceTables;
import dev.kvasir.cuda.memory.Fp16Page;

/** Tables that supply the position of each block for quantization and store nothing. */
final class BlockPositions implements SequenceTables {
  static final BlockPositions INSTANCE = new BlockPositions();

  private static final int BLOCK_PAGES = Fp16Page.BLOCK_PAGES;
  private static final long[] NOTHING = {};

  private BlockPositions() {}

  @Override
  public int pages() {
    return 0;
  }

  @Override
  public void reserve(int blocks) {}

  @Override
  public long[] quantizationMetadata(int position, long[] fp16) {
    long[] positions = new long[fp16.length / BLOCK_PAGES];
    for (int block = 0; block < positions.length; block++) {
      positions[block] = position + (long) block * BLOCK_PAGES * Fp16Page.TOKENS;
    }
    return positions;
  }

  @Override
  public void useDummy(int position) {}

  /** Packed pages store their positions. */
  @Override
  public long[] dequantizationMetadata(int blocks) {
    return NOTHING;
  }

  @Override
  public long[] entries() {
    return NOTHING;
  }

  @Override
  public SequenceTables fork() {
    return this;
  }

  @Override
  public void truncate(int tokens, int blocks) {}
}
