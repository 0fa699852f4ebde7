package dev.kvasir.cuda.formats.mead;

import dev.kvasir.codec.mead.MeadParameters;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * The channels of a head in the order in which a device stores their codes: steps of 16 channels,
 * the operands of a matrix instruction. All codes of a step and tier have the width of the widest
 * channel, so channels of similar widths share a step. A step of keys has eight RoPE pairs, their
 * first channels and then their second ones.
 *
 * @param slots place of each channel; step {@code slot / 16} // (headDim)
 * @param widths bits of a code // (tiers, steps)
 */
record StepWidths(int[] slots, int[][] widths) {
  /** Channels of a step. */
  static final int CHANNELS = 16;

  static StepWidths of(MeadParameters.Head head, boolean ofKeys, int headDim) {
    int[][] bits =
        IntStream.range(0, MeadParameters.TIERS)
            .mapToObj(tier -> head.codes(ofKeys, tier).bits())
            .toArray(int[][]::new);
    return of(bits, ofKeys, headDim);
  }

  /**
   * @param bits // (tiers, headDim)
   */
  static StepWidths of(int[][] bits, boolean ofKeys, int headDim) {
    int units = ofKeys ? headDim / 2 : headDim;
    int[] order =
        IntStream.range(0, units)
            .boxed()
            .sorted(Comparator.comparingInt(unit -> -cost(bits, unit, ofKeys ? units : 0)))
            .mapToInt(Integer::intValue)
            .toArray();
    int[] slots = new int[headDim];
    for (int rank = 0; rank < units; rank++) {
      if (ofKeys) {
        int slot = rank / 8 * CHANNELS + rank % 8;
        slots[order[rank]] = slot;
        slots[units + order[rank]] = slot + 8;
      } else {
        slots[order[rank]] = rank;
      }
    }
    int[][] widths = new int[bits.length][headDim / CHANNELS];
    for (int tier = 0; tier < bits.length; tier++) {
      for (int channel = 0; channel < headDim; channel++) {
        int step = slots[channel] / CHANNELS;
        widths[tier][step] = Math.max(widths[tier][step], bits[tier][channel]);
      }
    }
    return new StepWidths(slots, widths);
  }

  /**
   * Returns the bits of a channel, or of the wider channel of a pair, over the tokens of a page.
   */
  private static int cost(int[][] bits, int channel, int distance) {
    int sum = 0;
    for (int tier = 0; tier < bits.length; tier++) {
      int widest = Math.max(bits[tier][channel], bits[tier][channel + distance]);
      sum += MeadParameters.tokens(tier) * widest;
    }
    return sum;
  }

  int steps() {
    return widths[0].length;
  }

  /** Returns the channel of each place. // (headDim) */
  int[] channels() {
    int[] channels = new int[slots.length];
    Arrays.setAll(channels, i -> 0);
    for (int channel = 0; channel < slots.length; channel++) {
      channels[slots[channel]] = channel;
    }
    return channels;
  }
}
