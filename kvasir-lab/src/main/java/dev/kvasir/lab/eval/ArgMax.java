package dev.kvasir.lab.eval;

/** The likeliest token of a row of logits; of equal ones, the first. */
final class ArgMax {
  private ArgMax() {}

  /** A row without any number answers 0: a broken cache is a bad score and no failure. */
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
