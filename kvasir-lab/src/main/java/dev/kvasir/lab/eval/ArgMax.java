package dev.kvasir.lab.eval;

/** Finds the most likely token of a row of logits; the first one of a tie. */
final class ArgMax {
  private ArgMax() {}

  /** Returns 0 for a row without a number: a broken cache yields a bad score, not a failure. */
  static int of(float[] logits, int at, int count) {
    int best = 0;
    float largest = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < count; i++) {
      if (logits[at + i] > largest) {
        largest = logits[at + i];
        best = i;
      }
    }
    return best;
  }
}
