package dev.kvasir.cuda.formats.mixkvq;

import dev.kvasir.codec.mixkvq.Tiers;
import dev.kvasir.cuda.memory.Fp16Page;
import java.util.Arrays;

/**
 * The tiers of the key channels of some blocks, as the quantization kernel in mixed.cuh reads them.
 *
 * <pre>
 * (blocks, layers, kvHeads) times
 *   u64  address for wide channels of the first page; of the second
 *   u32  number of 4-bit channels; number of bf16 channels
 *   u8   (headDim + 16) channels, as in the header of a {@link MixkvqPage}
 * </pre>
 */
final class TierAssignments {
  private static final int ADDRESSES = Fp16Page.BLOCK_PAGES;
  private static final int SIZES = ADDRESSES;
  private static final int CHANNELS = SIZES + 1;

  /** In dummy tiers, one channel in this many has the tier. */
  static final int DUMMY_MID = 4;

  static final int DUMMY_BF16 = 64;

  private final int heads; // of all layers
  private final int headLongs;
  private final long[] longs;

  TierAssignments(WideChannels wideChannels, int blocks) {
    this(wideChannels.heads(), wideChannels.headDim(), blocks);
  }

  /**
   * @param heads KV heads of all layers
   */
  TierAssignments(int heads, int headDim, int blocks) {
    this.heads = heads;
    this.headLongs = headLongs(headDim);
    this.longs = new long[blocks * heads * headLongs];
  }

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

  /**
   * Returns dummy tiers for benchmarks: a quarter of all channels has 4 bits, one in 64 is bf16.
   */
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
