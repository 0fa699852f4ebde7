package dev.kvasir.cuda;

/** Packing asks where a block begins, and nothing else: there is nothing to keep. */
final class BlockPositions implements SequenceTables {
  static final BlockPositions INSTANCE = new BlockPositions();

  private static final int BLOCK_PAGES = SequencePages.BLOCK_PAGES;

  private BlockPositions() {}

  @Override
  public int pages() {
    return 0;
  }

  @Override
  public void reserve(int blocks) {}

  @Override
  public long[] quantizationMetadata(int position, long[] halves) {
    long[] positions = new long[halves.length / BLOCK_PAGES];
    for (int block = 0; block < positions.length; block++) {
      positions[block] = position + (long) block * BLOCK_PAGES * Fp16Page.TOKENS;
    }
    return positions;
  }

  @Override
  public void useDummy(int position) {}

  /** Packed pages know their positions. */
  @Override
  public long[] dequantizationMetadata(int blocks) {
    return SequencePages.NONE;
  }

  @Override
  public long[] entries() {
    return SequencePages.NONE;
  }

  @Override
  public SequenceTables fork() {
    return this;
  }

  @Override
  public void truncate(int tokens, int blocks) {}
}
