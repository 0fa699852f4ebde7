package dev.kvasir.cuda;

import dev.kvasir.codec.mixkvq.Tiers;
import java.util.Arrays;

/**
 * How the channels of some blocks are divided, as the packing kernel of mixed.cuh reads it.
 *
 * <pre>
 * (blocks, layers, kvHeads) times
 *   u64  where wider channels of the first page go; of the second
 *   u32  channels of four bits; channels that are kept
 *   u8   (headDim + 16) channels, as the header of a {@link MixkvqPage} has them
 * </pre>
 */
final class TierAssignments {
  private static final int PLACES = SequencePages.BLOCK_PAGES;
  private static final int SIZES = PLACES;
  private static final int CHANNELS = SIZES + 1;

  /** One channel in so many, of tiers to measure with. */
  static final int DUMMY_MID = 4;

  static final int DUMMY_BF16 = 64;

  private final int heads; // of all layers
  private final int headLongs;
  private final long[] longs;

  TierAssignments(WideChannels wideChannels, int blocks) {
    this(wideChannels.heads(), wideChannels.headDim(), blocks);
  }

  /**
   * @param heads of all layers
   */
  TierAssignments(int heads, int headDim, int blocks) {
    this.heads = heads;
    this.headLongs = headLongs(headDim);
    this.longs = new long[blocks * heads * headLongs];
  }

  /** Of one head. */
  static int headLongs(int headDim) {
    return CHANNELS + (headDim + MixkvqPage.STEP) / Long.BYTES;
  }

  long[] longs() {
    return longs;
  }

  void setTiers(int block, int head, Tiers tiers) {
    int at = at(block, head);
    longs[at + SIZES] = tiers.mid() | (long) tiers.high() << Integer.SIZE;
    int bf16At = MixkvqPage.STEP * Math.ceilDiv(tiers.mid(), MixkvqPage.STEP);
    for (int i = 0; i < tiers.high(); i++) {
      setChannel(at, bf16At + i, tiers.order()[i]);
    }
    for (int i = 0; i < tiers.mid(); i++) {
      setChannel(at, i, tiers.order()[tiers.high() + i]);
    }
  }

  private void setChannel(int at, int index, int channel) {
    longs[at + CHANNELS + index / Long.BYTES] |= (long) channel << Byte.SIZE * (index % Long.BYTES);
  }

  void setAddress(int block, int head, int page, long address) {
    longs[at(block, head) + page] = address;
  }

  private int at(int block, int head) {
    return (block * heads + head) * headLongs;
  }

  /** Tiers to measure with: a quarter of all channels has four bits, one in 64 is kept. */
  static Tiers[][] dummy(int blocks, WideChannels wideChannels) {
    int dim = wideChannels.headDim();
    int[] order = new int[dim];
    for (int i = 0; i < dim; i++) {
      order[i] = i;
    }
    Tiers tiers = new Tiers(order, dim / DUMMY_BF16, dim / DUMMY_MID);
    Tiers[][] all = new Tiers[blocks][wideChannels.heads()];
    for (Tiers[] block : all) {
      Arrays.fill(block, tiers);
    }
    return all;
  }
}
