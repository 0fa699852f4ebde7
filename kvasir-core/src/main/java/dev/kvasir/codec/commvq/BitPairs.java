package dev.kvasir.codec.commvq;

/** The meaning of logits: every four choose the bit pair 10, 01, 11 or 00, in this order. */
public final class BitPairs {
  /** Logits of a pair of bits. */
  public static final int CHOICES = 4;

  private BitPairs() {}

  /** Returns the bits of a token of so many channels: even, because logits choose pairs. */
  public static int bits(int bitsPerChannel, int width) {
    return bitsPerChannel * width / 2 * 2;
  }

  /** Returns whether a choice sets the first bit of its pair. */
  public static boolean first(int choice) {
    return choice == 0 || choice == 2;
  }

  /** Returns whether a choice sets the second bit of its pair. */
  public static boolean second(int choice) {
    return choice == 1 || choice == 2;
  }

  /** Returns the index of the largest of four logits, the first one of equals. */
  static int choice(float[] logits, int at) {
    int best = 0;
    for (int i = 1; i < CHOICES; i++) {
      best = logits[at + i] > logits[at + best] ? i : best;
    }
    return best;
  }
}
