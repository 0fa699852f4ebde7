package dev.kvasir.codec.mixkvq;

/**
 * The channels of a head ordered by tier: 16-bit channels first, then 4-bit, then 2-bit. Within a
 * tier they keep their order.
 *
 * @param order channels
 * @param high number of 16-bit channels
 * @param mid number of 4-bit channels
 */
public record Tiers(int[] order, int high, int mid) {
  private static final int QUAD = 4;
  private static final int HIGH = 0;
  private static final int MID = 1;
  private static final int LOW = 2;

  /**
   * Assigns channels to tiers by salience. Codes are stored in quads of channels. The free slots in
   * the last quad of the 4-bit tier go to the most salient 2-bit channels, at no cost.
   *
   * @param salience of a head's channels, from {@code at} on
   */
  public static Tiers of(float[] salience, int at, int channels, Thresholds thresholds) {
    int[] tier = new int[channels];
    int[] sizes = new int[3];
    for (int i = 0; i < channels; i++) {
      float x = salience[at + i];
      tier[i] = thresholds.isHigh(x) ? HIGH : thresholds.isMid(x) ? MID : LOW;
      sizes[tier[i]]++;
    }
    for (int free = Math.min(freeSlots(sizes[MID]), sizes[LOW]); free > 0; free--) {
      tier[mostSalientLow(tier, salience, at)] = MID;
      sizes[MID]++;
      sizes[LOW]--;
    }
    return new Tiers(order(tier, sizes), sizes[HIGH], sizes[MID]);
  }

  /** Returns the free slots in the last quad of a tier. */
  static int freeSlots(int size) {
    return Math.ceilDiv(size, QUAD) * QUAD - size;
  }

  private static int mostSalientLow(int[] tier, float[] salience, int at) {
    int found = -1;
    for (int i = 0; i < tier.length; i++) {
      if (tier[i] == LOW && (found < 0 || salience[at + i] > salience[at + found])) {
        found = i;
      }
    }
    return found;
  }

  private static int[] order(int[] tier, int[] sizes) {
    int[] next = {0, sizes[HIGH], sizes[HIGH] + sizes[MID]};
    int[] order = new int[tier.length];
    for (int channel = 0; channel < tier.length; channel++) {
      order[next[tier[channel]]++] = channel;
    }
    return order;
  }
}
