package dev.kvasir.codec.mead;

import dev.kvasir.kernel.RowCodeLayout;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Allocates bits to all channels of a model, greedily where one more bit removes the most error.
 * One more bit for a channel reduces a token's error by {@code W s^2 (D(k) - D(k + 1))}, with s the
 * deviation, W the weight of the tier and D from {@link UnitVarianceSteps}. A row of codes has
 * whole bytes, so a row gets its bits by the byte.
 */
final class BitAllocator {
  /** Bits of the first byte that are left for codes after the row's scale. */
  private static final int FIRST_BITS = Byte.SIZE - RowCodeLayout.SCALE_BITS;

  /** The code row of one saliency tier, for keys or values of one head, during allocation. */
  static final class Row {
    private final double[] energies; // (dim): weight times squared deviation
    private final double tokenFraction; // fraction of tokens that have such a row
    private final int[] bits; // (dim)
    private double nextGain; // of the next byte, per bit
    private int[] nextBits;

    Row(double[] energies, SaliencyTier tokens) {
      this.energies = energies;
      this.tokenFraction = tokens.fraction();
      this.bits = new int[energies.length];
      evaluateNextByte();
    }

    /** Computes the gain of the next byte. */
    private void evaluateNextByte() {
      int more = Arrays.stream(bits).anyMatch(k -> k > 0) ? Byte.SIZE : FIRST_BITS;
      nextBits = bits.clone();
      double gain = 0;
      for (int i = 0; i < more; i++) {
        int best = best(nextBits);
        if (best >= 0) {
          gain += energies[best] * UnitVarianceSteps.gain(nextBits[best]);
          nextBits[best]++;
        }
      }
      nextGain = gain / Byte.SIZE;
    }

    private int best(int[] taken) {
      int best = -1;
      double most = 0;
      for (int i = 0; i < taken.length; i++) {
        double gain =
            taken[i] == RowCodeLayout.MAX_BITS ? 0 : energies[i] * UnitVarianceSteps.gain(taken[i]);
        if (gain > most) {
          most = gain;
          best = i;
        }
      }
      return best;
    }

    private void takeNextByte() {
      System.arraycopy(nextBits, 0, bits, 0, bits.length);
      evaluateNextByte();
    }

    private double cost() {
      return Byte.SIZE * tokenFraction;
    }

    int[] bits() {
      return bits;
    }
  }

  private BitAllocator() {}

  /**
   * @param rows rows of all layers, heads, sides and tiers
   * @param budget average bits per token
   */
  static void allocate(List<Row> rows, double budget) {
    PriorityQueue<Row> queue =
        new PriorityQueue<>(Comparator.comparingDouble((Row row) -> -row.nextGain));
    queue.addAll(rows);
    double left = budget;
    while (!queue.isEmpty()) {
      Row row = queue.poll();
      if (row.nextGain <= 0) {
        break;
      }
      // Drop a row that does not fit: a row of fewer tokens may still fit.
      if (row.cost() <= left) {
        left -= row.cost();
        row.takeNextByte();
        queue.add(row);
      }
    }
  }
}
