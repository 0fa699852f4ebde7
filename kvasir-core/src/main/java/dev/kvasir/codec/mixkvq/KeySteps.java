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
  private final int headDim;
  private final float[] least; // (kvHeads, headDim)
  private final float[] most; // (kvHeads, headDim)

  KeySteps(int kvHeads, int headDim) {
    this.kvHeads = kvHeads;
    this.headDim = headDim;
    this.least = new float[kvHeads * headDim];
    this.most = new float[kvHeads * headDim];
    Arrays.fill(least, Float.POSITIVE_INFINITY);
    Arrays.fill(most, Float.NEGATIVE_INFINITY);
  }

  /** Adds the keys of a block. // (kvHeads, tokens, headDim) */
  void add(float[] keys) {
    int from = 0;
    for (int head = 0; head < kvHeads; head++) {
      int to = head * headDim;
      for (int token = 0; token < Page.TOKENS; token++) {
        for (int i = 0; i < headDim; i++) {
          float key = keys[from + i];
          least[to + i] = Math.min(least[to + i], key);
          most[to + i] = Math.max(most[to + i], key);
        }
        from += headDim;
      }
    }
  }

  /** (kvHeads, headDim). */
  float[] steps() {
    float[] steps = new float[least.length];
    for (int i = 0; i < steps.length; i++) {
      steps[i] = (most[i] - least[i]) / STEPS;
    }
    return steps;
  }
}
