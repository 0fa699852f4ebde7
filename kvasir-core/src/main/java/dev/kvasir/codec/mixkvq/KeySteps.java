package dev.kvasir.codec.mixkvq;

import dev.kvasir.codec.Page;
import java.util.Arrays;

/**
 * The step that a code of two bits would have in each channel of a layer's keys, over the tokens of
 * one block or of several: the range divided by three.
 */
final class KeySteps {
  private static final int STEPS = 3;

  private final int kvHeads;
  private final int keyDim;
  private final float[] least; // (kvHeads, keyDim)
  private final float[] most; // (kvHeads, keyDim)

  KeySteps(int kvHeads, int keyDim) {
    this.kvHeads = kvHeads;
    this.keyDim = keyDim;
    this.least = new float[kvHeads * keyDim];
    this.most = new float[kvHeads * keyDim];
    Arrays.fill(least, Float.POSITIVE_INFINITY);
    Arrays.fill(most, Float.NEGATIVE_INFINITY);
  }

  /** Adds the keys of a block. // (kvHeads, tokens, keyDim) */
  void add(float[] keys) {
    int from = 0;
    for (int head = 0; head < kvHeads; head++) {
      int to = head * keyDim;
      for (int token = 0; token < Page.TOKENS; token++) {
        for (int i = 0; i < keyDim; i++) {
          float key = keys[from + i];
          least[to + i] = Math.min(least[to + i], key);
          most[to + i] = Math.max(most[to + i], key);
        }
        from += keyDim;
      }
    }
  }

  /** (kvHeads, keyDim). */
  float[] steps() {
    float[] steps = new float[least.length];
    for (int i = 0; i < steps.length; i++) {
      steps[i] = (most[i] - least[i]) / STEPS;
    }
    return steps;
  }
}
