package dev.kvasir.cuda.formats.mead;

import dev.kvasir.codec.mead.MeadParameters;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/**
 * The channels of a head in the order in which a device stores their codes: steps of 16 channels,
 * the operands of a matrix instruction. All codes of a step and tier have the width of the widest
 * channel, so channels of similar widths share a step. A step of keys has eight RoPE pairs, their
 * first channels and then their second ones; the pairs that rotate most are in the first steps.
 *
 * @param slots place of each channel; step {@code slot / 16} // (headDim)
 * @param widths bits of a code; the last tier has no fewer than the one before // (tiers, steps)
 * @param rotatedSteps the first steps, with all pairs of keys that are not {@link
 *     LinearRotations#isLinear linear}
 */
record StepWidths(int[] slots, int[][] widths, int rotatedSteps) {
  /** Channels of a step. */
  static final int CHANNELS = 16;

  static StepWidths ofKeys(MeadParameters.Head head, int headDim, LinearRotations rotations) {
    return of(bits(head, true), true, headDim, rotations.errors(), rotations.rotatedPairs());
  }

  static StepWidths ofValues(MeadParameters.Head head, int headDim) {
    return of(bits(head, false), false, headDim, new float[headDim], 0);
  }

  private static int[][] bits(MeadParameters.Head head, boolean ofKeys) {
    return IntStream.range(0, MeadParameters.TIERS)
        .mapToObj(tier -> head.codes(ofKeys, tier).bits())
        .toArray(int[][]::new);
  }

  /**
   * @param bits // (tiers, headDim)
   * @param errors of pairs if they are not rotated
   * @param rotatedPairs the least number of pairs in the first steps, those with the largest errors
   */
  static StepWidths of(
      int[][] bits, boolean ofKeys, int headDim, float[] errors, int rotatedPairs) {
    int units = ofKeys ? headDim / 2 : headDim;
    int rotatedSteps = Math.ceilDiv(rotatedPairs, CHANNELS / 2);
    int[] byError =
        IntStream.range(0, units)
            .boxed()
            .sorted(Comparator.comparingDouble(unit -> -errors[unit]))
            .mapToInt(Integer::intValue)
            .toArray();
    boolean[] isRotated = new boolean[units];
    for (int i = 0; i < rotatedSteps * CHANNELS / 2; i++) {
      isRotated[byError[i]] = true;
    }
    int[] order =
        IntStream.range(0, units)
            .boxed()
            .sorted(
                Comparator.<Integer>comparingInt(unit -> isRotated[unit] ? 0 : 1)
                    .thenComparingInt(unit -> -cost(bits, unit, ofKeys ? units : 0)))
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
    int last = MeadParameters.TIERS - 1;
    for (int step = 0; step < widths[last].length; step++) {
      widths[last][step] = Math.max(widths[last][step], widths[last - 1][step]);
    }
    return new StepWidths(slots, widths, rotatedSteps);
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

  /** Returns the bits by which codes of the last tier are wider than those of the one before. */
  int wider(int step) {
    int last = MeadParameters.TIERS - 1;
    return widths[last][step] - widths[last - 1][step];
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
