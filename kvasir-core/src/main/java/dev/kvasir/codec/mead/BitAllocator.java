package dev.kvasir.codec.mead;

import dev.kvasir.kernel.RowCodeLayout;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Shares bits out among all channels of a model: always where one more takes away most of what is
 * lost. A bit more of a channel takes {@code W s^2 (D(k) - D(k + 1))} from the error of a token,
 * with s the deviation and W the weight of its class ({@link Steps}). A row of codes has whole
 * bytes, so bits are given out to a row by the byte.
 */
final class BitAllocator {
  /** A row before its first byte has no scale either. */
  private static final int FIRST_BITS = Byte.SIZE - RowCodeLayout.SCALE_BITS;

  /** The codes of one class of tokens, of one side of a head, while bits are given out. */
  static final class Row {
    private final double[] energies; // (dim): weight times squared deviation
    private final double tokenFraction; // of tokens that have such a row
    private final int[] bits; // (dim)
    private double nextGain; // of the next byte, for each of its bits
    private int[] nextBits;

    Row(double[] energies, SaliencyTier tokens) {
      this.energies = energies;
      this.tokenFraction = tokens.fraction();
      this.bits = new int[energies.length];
      evaluateNextByte();
    }

    /** Finds what the next byte would do. */
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
   * @param rows of all layers, heads, sides and classes
   * @param budget bits that a token has for them on the average
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
      // One that does not fit is left out: a row of fewer tokens may still do.
      if (row.cost() <= left) {
        left -= row.cost();
        row.takeNextByte();
        queue.add(row);
      }
    }
  }
}
