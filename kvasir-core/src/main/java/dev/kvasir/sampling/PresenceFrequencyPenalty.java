package dev.kvasir.sampling;

import java.util.BitSet;

/** Penalizes generated tokens once (presence) and per occurrence (frequency). */
final class PresenceFrequencyPenalty {
  private final double presence;
  private final double frequency;
  private final boolean isOn;
  private BitSet generated;
  private int[] counts = {}; // (vocabulary)

  PresenceFrequencyPenalty(double presence, double frequency) {
    this.presence = presence;
    this.frequency = frequency;
    this.isOn = presence != 0 || frequency != 0;
  }

  void apply(float[] logits, int at, int vocabulary) {
    if (!isOn) {
      return;
    }
    if (counts.length == 0) {
      counts = new int[vocabulary];
      generated = new BitSet(vocabulary);
    }
    for (int t = generated.nextSetBit(0); t >= 0; t = generated.nextSetBit(t + 1)) {
      logits[at + t] -= (float) (presence + frequency * counts[t]);
    }
  }

  void count(int token) {
    if (isOn) {
      generated.set(token);
      counts[token]++;
    }
  }
}
