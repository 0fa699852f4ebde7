package dev.kvasir.cuda.formats.mead;

import dev.kvasir.cuda.formats.SequenceTables;
import dev.kvasir.cuda.memory.Fp16Page;
import java.util.Arrays;

/**
 * Supplies the position of each block for quantization, and its token ids if predictions depend on
 * them. It stores nothing on the device, since packed pages store both.
 */
final class MeadSequenceTables implements SequenceTables {
  private static final int BLOCK = Fp16Page.BLOCK_PAGES * Fp16Page.TOKENS;

  private final boolean storesIds;
  private int[] ids; // by position

  MeadSequenceTables(boolean storesIds) {
    this(storesIds, new int[0]);
  }

  private MeadSequenceTables(boolean storesIds, int[] ids) {
    this.storesIds = storesIds;
    this.ids = ids;
  }

  /** Returns the number of metadata longs of a block. */
  static int metadataLongs(boolean storesIds) {
    return 1 + (storesIds ? BLOCK / 2 : 0);
  }

  @Override
  public void observeToken(int position, int token) {
    if (storesIds) {
      if (position >= ids.length) {
        ids = Arrays.copyOf(ids, Math.max(BLOCK, 2 * position));
      }
      ids[position] = token;
    }
  }

  @Override
  public long[] quantizationMetadata(int position, long[] fp16) {
    int blocks = fp16.length / Fp16Page.BLOCK_PAGES;
    int longs = metadataLongs(storesIds);
    long[] metadata = new long[blocks * longs];
    for (int block = 0; block < blocks; block++) {
      int first = position + block * BLOCK;
      metadata[block * longs] = first;
      for (int i = 0; storesIds && i < BLOCK / 2; i++) {
        metadata[block * longs + 1 + i] =
            Integer.toUnsignedLong(ids[first + 2 * i])
                | Integer.toUnsignedLong(ids[first + 2 * i + 1]) << Integer.SIZE;
      }
    }
    return metadata;
  }

  @Override
  public SequenceTables fork() {
    return new MeadSequenceTables(storesIds, ids.clone());
  }
}
